package cost

import "math/bits"

// Algorithm is one of package ring's algorithms that sum small buffers in few rounds. In a
// round a rank sends to one other rank and receives from it. The next round begins when both
// have received. The rounds send float32 with every codec.
type Algorithm uint8

// The algorithms; see ring.Algorithm.
const (
	Doubling Algorithm = iota
	Halving
)

// Predict returns the time of an all-reduce of n bytes of float32 by a in the layout l, under
// the conditions of the function Predict. With one host there are no
// rounds.
func (a Algorithm) Predict(r Rates, n int64, l Layout) Time {
	l.check(n)
	shard := float64(n) / float64(l.Local)
	edges := bits.Len(uint(l.Hosts)) - 1
	var t Time
	for e := range edges {
		half := shard / float64(int64(2)<<e)
		switch a {
		case Doubling:
			t.round(r, shard, shard)
		case Halving:
			t.round(r, half, half)
			t.round(r, half, 0)
		}
	}
	if l.Hosts != 1<<edges { // the extra hosts send their buffers first and receive the sum last
		t.round(r, shard, shard)
		t.round(r, shard, 0)
	}
	t.Total = min(t.Total+l.within(r, n), forever)
	return t
}

// round adds a round in which a rank sends bytes, receives as many, and adds some.
func (t *Time) round(r Rates, sent, added float64) {
	wire, cpu := over(sent+headerBytes, r.Bandwidth), min(r.throughSockets(sent)+over(added, r.Add), forever)
	t.Wire = min(t.Wire+r.dependent(wire, 0), forever)
	t.CPU = min(t.CPU+cpu, forever)
	t.Total = min(t.Total+r.dependent(wire, cpu), forever)
}
