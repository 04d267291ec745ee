package delivery

import (
	"fmt"
	"math"

	"ringtrain/ring"
)

// Position is the place of a frame in a stream. The positions of a stream's data
// frames grow from frame to frame, though not by one: a new operation begins at
// segment 0, and some operations send nothing.
type Position struct {
	Op      uint64
	Segment uint32
}

// At returns the position of f.
func At(f *ring.Frame) Position { return Position{Op: f.Op, Segment: f.Segment} }

func (p Position) String() string { return fmt.Sprintf("operation %d, segment %d", p.Op, p.Segment) }

// Before tells whether p comes earlier in the stream than q.
func (p Position) Before(q Position) bool {
	return p.Op < q.Op || p.Op == q.Op && p.Segment < q.Segment
}

// Next returns the first position after p: that of the next frame, or one before
// it where an operation ends.
func (p Position) Next() Position {
	if p.Segment == math.MaxUint32 {
		return Position{Op: p.Op + 1}
	}
	return Position{Op: p.Op, Segment: p.Segment + 1}
}
