package ring

import (
	"errors"
	"fmt"

	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
)

// ErrRanksDiffer means that ranks which must do the same operation do different
// ones, or the same one on buffers that are not alike. The job cannot go on: its
// ranks run different programs, or one with a bug.
var ErrRanksDiffer = errors.New("ring: ranks differ")

// terms are what ranks must agree on before they do an operation: what it is, and on what. In
// the memory of a host they lie as they are declared here, and any bytes are terms. Frames carry
// a part of them in their header. So ranks that do different operations learn it before
// anything is summed.
type terms struct {
	seq       uint64 // of the operation; not in a header
	length    uint64 // of the buffer in elements; modulo 2³² in a header
	offset    uint64 // of the buffer in its arena, elements; not in a header
	arena     int32  // -1: the buffer lies in none, or that does not matter; not in a header
	root      uint32 // of a broadcast; of a sum of rows the tables' checksum
	kind      opKind
	codec     uint8 // that was asked for
	tails     uint8 // 1: there are some
	algorithm Algorithm
	_         [4]uint8
}

// terms returns those of the running operation in memory, without a buffer.
func (op *operation) terms() terms { return terms{seq: op.seq, kind: op.kind, arena: -1} }

// terms returns those of r.
func (r *Reduction) terms(by Algorithm) terms {
	t := terms{kind: opAllReduce, length: uint64(len(r.Buf)), algorithm: by}
	if r.Codec != nil {
		t.codec = r.Codec.ID()
	}
	if r.Tails != nil {
		t.tails = 1
	}
	return t
}

// put writes the part of t that frames carry into the header of f.
func (t *terms) put(f *Frame) {
	f.Terms = uint32(t.kind) | uint32(t.algorithm)<<3 | uint32(t.codec&15)<<6 | uint32(t.tails)<<10
	f.Length = uint32(t.length)
	if t.hasRoot() {
		f.Length = t.root
	}
}

// termsIn returns the terms that the header of f carries.
func termsIn(f *Frame) terms {
	w := f.Terms
	t := terms{kind: opKind(w & 7), algorithm: Algorithm(w >> 3 & 7), codec: uint8(w >> 6 & 15), tails: uint8(w >> 10 & 1)}
	if t.hasRoot() {
		t.root = f.Length
	} else {
		t.length = uint64(f.Length)
	}
	return t
}

func (t *terms) hasRoot() bool { return t.kind == opBroadcast || t.kind == opRows }

// difference returns the error of two ranks with different terms: what differs, and what each
// rank has.
func (t *terms) difference(theirs *terms, me int, them string) error {
	between := func(what string, a, b any) error {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("%w: %s is %v on rank %d, %v on %s", ErrRanksDiffer, what, a, me, b, them))
	}
	switch {
	case t.kind != theirs.kind:
		return between("operation", t.kind, kindName(theirs.kind))
	case t.seq != theirs.seq:
		return between("number of the operation", t.seq, theirs.seq)
	case t.algorithm != theirs.algorithm:
		return between("algorithm", fmt.Sprintf("%v for %d elements", t.algorithm, t.length), algorithmName(theirs.algorithm))
	case t.length != theirs.length:
		return between("length in elements", t.length, theirs.length)
	case t.codec != theirs.codec:
		return between("codec", codecName(t.codec), codecName(theirs.codec))
	case t.tails != theirs.tails:
		return between("number of tails", t.tails, theirs.tails)
	case t.arena != theirs.arena:
		return between("place of the buffer", t.place(), theirs.place())
	case t.offset != theirs.offset:
		return between("offset in the arena", t.offset, theirs.offset)
	case t.kind == opRows:
		return between("checksum of the tables", t.root, theirs.root)
	default:
		return between("root", t.root, theirs.root)
	}
}

func (t *terms) place() string {
	if t.arena < 0 {
		return "no arena"
	}
	return fmt.Sprintf("arena %d", t.arena)
}

// kindName returns the name of a kind, which may be one that no rank has.
func kindName(k opKind) string {
	if k == 0 {
		return "none"
	}
	return k.String()
}

// algorithmName returns the name of an algorithm, which may be one that no rank has.
func algorithmName(a Algorithm) string {
	if int(a) >= len(algorithmNames) {
		return fmt.Sprintf("algorithm %d", uint8(a))
	}
	return a.String()
}

func codecName(id uint8) string {
	if c, ok := codec.ByID(id); ok {
		return c.String()
	}
	return fmt.Sprintf("codec %d", id)
}
