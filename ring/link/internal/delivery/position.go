package delivery

import (
	"fmt"
	"math"

	"ringtrain/ring"
)

// Position is the position of a data frame in a stream. Positions increase from frame to
// frame, though not by one: each operation begins at segment 0, and some operations send no
// frames.
type Position struct {
	Op      uint64
	Segment uint32
}

// At returns the position of f.
func At(f *ring.Frame) Position { return Position{Op: f.Op, Segment: f.Segment} }

func (p Position) String() string { return fmt.Sprintf("operation %d, segment %d", p.Op, p.Segment) }

// Before reports whether p comes before q in the stream.
func (p Position) Before(q Position) bool {
	return p.Op < q.Op || p.Op == q.Op && p.Segment < q.Segment
}

// Next returns the smallest position after p. The next frame is there, or later if an
// operation ends at p.
func (p Position) Next() Position {
	if p.Segment == math.MaxUint32 {
		return Position{Op: p.Op + 1}
	}
	return Position{Op: p.Op, Segment: p.Segment + 1}
}
