package ring

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
)

// ErrRanksDiffer means that ranks which must do the same operation do different
// ones, or the same one on buffers that are not alike. The job cannot go on: its
// ranks run different programs, or one with a bug.
var ErrRanksDiffer = errors.New("ring: ranks differ")

// A notice says what a worker is about to do. All workers of a host must have
// the same. It lies in shared memory: any bytes are a notice.
type notice struct {
	seq    uint64
	length uint64 // elements
	offset uint64 // of the buffer in its arena, elements
	arena  int32  // -1: the buffer lies in none, or that does not matter
	root   uint32 // of a broadcast; of a sum of rows the tables' checksum
	kind   opKind
	codec  uint8
	tails  uint8 // 1: there are some
	_      [5]uint8
}

// BarrierPayloadBytes is the length of a BarrierPayload: with a count it fills a cache line.
const BarrierPayloadBytes = 56

// A BarrierPayload is what a worker tells the others of its host at an agreement: its notice
// and, of a buffer that is no longer, the elements. Whoever carries it takes it
// for bytes.
type BarrierPayload struct {
	notice notice
	data   [payloadElements]float32
}

// Whole tells whether the worker has nothing for the others but what is on the payload.
func (s *BarrierPayload) Whole() bool {
	n := &s.notice
	return (n.kind == opAllReduce || n.kind == opBarrier) && n.length <= payloadElements && n.tails == 0
}

// payloadElements is what a payload has room for.
const payloadElements = 4

var _ [BarrierPayloadBytes]struct{} = [unsafe.Sizeof(BarrierPayload{})]struct{}{}

// An Exchanger is a Memory whose barrier carries payloads. The others read a
// worker's payload on the cache line by which they learn that it has come, which
// spares each of them a second line that lies in another core's cache.
type Exchanger interface {
	Memory

	// Exchange is a Sync after which all, by local rank, has what each worker of
	// the host gave as mine.
	Exchange(ctx context.Context, mine *BarrierPayload, all []BarrierPayload) error
}

// notice returns that of the running operation.
func (g *Group) notice() notice {
	return notice{seq: g.op.seq, kind: g.op.kind, arena: -1}
}

// difference tells in what two notices differ, with what each rank has.
func difference(mine, theirs notice, me, them int) error {
	between := func(what string, a, b any) error {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("%w: %s is %v on rank %d, %v on rank %d", ErrRanksDiffer, what, a, me, b, them))
	}
	switch {
	case mine.kind != theirs.kind:
		return between("operation", mine.kind, theirs.kind)
	case mine.seq != theirs.seq:
		return between("number of the operation", mine.seq, theirs.seq)
	case mine.length != theirs.length:
		return between("length in elements", mine.length, theirs.length)
	case mine.codec != theirs.codec:
		return between("codec", codecName(mine.codec), codecName(theirs.codec))
	case mine.tails != theirs.tails:
		return between("number of tails", mine.tails, theirs.tails)
	case mine.arena != theirs.arena:
		return between("place of the buffer", mine.place(), theirs.place())
	case mine.offset != theirs.offset:
		return between("offset in the arena", mine.offset, theirs.offset)
	case mine.kind == opRows:
		return between("checksum of the tables", mine.root, theirs.root)
	default:
		return between("root", mine.root, theirs.root)
	}
}

func (n notice) place() string {
	if n.arena < 0 {
		return "no arena"
	}
	return fmt.Sprintf("arena %d", n.arena)
}

func codecName(id uint8) string {
	if c, ok := codec.ByID(id); ok {
		return c.String()
	}
	return fmt.Sprintf("codec %d", id)
}
