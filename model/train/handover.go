package train

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"ringtrain/ring/exitcode"
)

// A generation begins with the newest state that a living rank holds:
//
//	all-gather   who holds the state after which step
//	broadcast    that of the newest step, from the lowest rank that has it
//
// Ranks of one job differ by one step at most, since a step needs all of them, and
// an update follows a complete sum: the bits after a step are the same on every
// rank that has completed it. So at most the step in flight is repeated, and
// whoever is level keeps its values. Where nobody holds a state, as in the first
// generation, rank 0 has it from the disk or draws it.

// A standing is how far a rank has come.
type standing struct {
	whole bool  // it holds a state
	step  int64 // after which step
}

// encode returns whole and step as int64, little-endian.
func (s standing) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(bit(s.whole)))
	return binary.LittleEndian.AppendUint64(b, uint64(s.step))
}

func decodeStanding(b []byte) standing {
	le := binary.LittleEndian
	return standing{le.Uint64(b) == 1, int64(le.Uint64(b[8:]))}
}

// newest returns the lowest of the ranks that hold the newest state, -1 if none
// holds any, and whether all hold that.
func newest(all []standing) (donor int, level bool) {
	donor = -1
	for rank, s := range all {
		if s.whole && (donor < 0 || s.step > all[donor].step) {
			donor = rank
		}
	}
	for _, s := range all {
		if donor < 0 || s != all[donor] {
			return donor, false
		}
	}
	return donor, true
}

// standings gathers those of all ranks.
func (r *run) standings(ctx context.Context) ([]standing, error) {
	all, err := gatherEqual(ctx, r.team.Group, standing{r.whole, r.where.step}.encode())
	if err != nil {
		return nil, err
	}
	standings := make([]standing, r.team.Group.Membership().Size())
	for rank := range standings {
		standings[rank] = decodeStanding(all.At(rank))
	}
	return standings, nil
}

// A handover is what ranks are given with variables and slots: what a checkpoint
// knows, and what the last step came to and has left to do.
type handover struct {
	origin origin
	agreed Agreed
}

// agreedBytes are those of an encoded Agreed. Who wanted to leave has gone.
const agreedBytes = 48

// encode returns loss as float64, then examples, first, stop, checkpoint and
// evaluate as int64, all little-endian, and then the origin.
func (h handover) encode() []byte {
	a := h.agreed
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, agreedBytes+originBytes), math.Float64bits(a.Loss))
	for _, v := range []int64{a.Examples, bit(a.First), int64(a.Stop), bit(a.Checkpoint), bit(a.Evaluate)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return append(b, h.origin.encode()...)
}

func decodeHandover(b []byte) handover {
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	a := Agreed{Loss: math.Float64frombits(uint64(at(0))), Examples: at(1), First: at(2) == 1}
	a.Stop, a.Checkpoint, a.Evaluate = int(at(3)), at(4) == 1, at(5) == 1
	return handover{decodeOrigin(b[agreedBytes:]), a}
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// take is what a rank makes of the donor's stream: the handover, and behind it
// the state, if this rank needs it. A rank that is behind keeps its own until it
// has all of the other.
func (r *run) take(ctx context.Context, donor int, head []byte, level, behind bool) error {
	live, into := r.segments(), r.segments()
	w := &segmentWriter{donor: donor}
	switch {
	case level: // nothing follows
		into = nil
	case r.whole && !behind:
		w.skip, into = length(into), nil
	case r.whole:
		for i, s := range into {
			into[i] = make([]byte, len(s))
		}
	}
	w.rest = append([][]byte{head}, into...)
	if err := r.team.Group.Broadcast(ctx, donor, nil, w); err != nil {
		return err
	}
	if len(w.rest) > 0 || w.skip > 0 {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent too little state", donor))
	}
	if behind {
		for i, s := range into {
			copy(live[i], s)
		}
	}
	return nil
}

func length(segments [][]byte) int {
	n := 0
	for _, s := range segments {
		n += len(s)
	}
	return n
}

// segmentWriter writes a stream into a list of buffers, and leaves out the rest.
type segmentWriter struct {
	rest  [][]byte
	skip  int // bytes behind them
	donor int // the rank that sends
}

func (w *segmentWriter) Write(p []byte) (int, error) {
	n := 0
	for len(p) > 0 && len(w.rest) > 0 {
		k := copy(w.rest[0], p)
		p, n = p[k:], n+k
		if w.rest[0] = w.rest[0][k:]; len(w.rest[0]) == 0 {
			w.rest = w.rest[1:]
		}
	}
	if len(p) > w.skip {
		return n, exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent too much state", w.donor))
	}
	w.skip -= len(p)
	return n + len(p), nil
}
