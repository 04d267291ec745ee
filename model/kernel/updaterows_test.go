package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"ringtrain/model/internal/pages"
)

// rowCase is a table with a gradient of about every third row, at an offset in wider
// rows.
func rowCase(r Rule, rows, width int) *RowUpdate {
	u := &RowUpdate{W: positive(rows*width, 1), Width: width, Stride: width + 3, C: ruleConstants[r], Mix: true}
	for i := range ruleKinds[r].slots {
		u.S[i] = positive(rows*width, uint64(3+i))
	}
	for row := 1; row < rows; row += 1 + row%4 {
		u.IDs = append(u.IDs, uint32(row))
	}
	u.G = random(len(u.IDs)*u.Stride, 2)
	return u
}

func (u *RowUpdate) clone() *RowUpdate {
	c := *u
	c.W = slices.Clone(u.W)
	for i, s := range u.S {
		c.S[i] = slices.Clone(s)
	}
	return &c
}

// byHand is UpdateRows row by row with the portable body.
func byHand(r Rule, u *RowUpdate) {
	w := u.Width
	if u.Whole {
		all := Update{W: u.W, C: u.C, S: u.S}
		before := u.clone()
		weightDecay(u.W, u.Decay, u.Rate)
		adamDecayRef(all)
		for _, id := range u.IDs {
			lo, hi := int(id)*w, int(id+1)*w
			copy(u.W[lo:hi], before.W[lo:hi])
			copy(u.S[0][lo:hi], before.S[0][lo:hi])
			copy(u.S[1][lo:hi], before.S[1][lo:hi])
		}
	}
	for k, id := range u.IDs {
		lo, hi := int(id)*w, int(id+1)*w
		row := Update{W: u.W[lo:hi], G: slices.Clone(u.G[k*u.Stride : k*u.Stride+w]), C: u.C}
		for i := range ruleKinds[r].slots {
			row.S[i] = u.S[i][lo:hi]
		}
		u.Adjust.apply(row.G, row.W)
		weightDecay(row.W, u.Decay, u.Rate)
		ruleKinds[r].body(row)
	}
}

// TestUpdateRowsAgrees verifies that rows get the bits of the portable body, row by row,
// in every set, with any number of threads and any division into calls; that other rows
// do not change, or decay for Adam; and that the mix is the same for all.
func TestUpdateRowsAgrees(t *testing.T) {
	for _, e := range engines(t, 1, 3) {
		for r := range rules {
			for _, width := range []int{1, 3, 8, 9, 40} {
				t.Run(fmt.Sprintf("%v/rule=%s/width=%d", e, ruleNames[r], width), func(t *testing.T) {
					for _, adjust := range []Adjust{{}, {L1: 0.1, L2: 0.2, Bound: 0.5, Factor: 0.7}} {
						want := rowCase(r, 70000/width, width)
						if r == AdamDecay {
							return // has no gradient
						}
						want.Adjust = adjust
						if want.Whole = r == AdamRows; want.Whole && adjust.L1 != 0 {
							want.Decay, want.Rate = 0.01, 0.5
						}
						whole, cut := want.clone(), want.clone()
						byHand(r, want)
						mix := e.UpdateRows(r, whole)
						var mixed uint64
						for at, step := 0, 1; at < len(want.IDs); step *= 3 {
							to := min(at+step, len(want.IDs))
							cut.IDs, cut.G = want.IDs[at:to], want.G[at*want.Stride:]
							mixed += e.UpdateRows(r, cut)
							cut.First, at = int(want.IDs[to-1])+1, to
						}
						if want.Whole {
							whole.First = cut.First
							e.DecayRows(whole, whole.First, len(want.W)/width)
							e.DecayRows(cut, cut.First, len(want.W)/width)
						}
						for i, u := range []*RowUpdate{whole, cut} {
							if !equalBits(u.W, want.W) || !equalBits(u.S[0], want.S[0]) || !equalBits(u.S[1], want.S[1]) {
								t.Errorf("case %d, adjust %v: other bits than row by row", i, adjust)
							}
						}
						if mix != mixed || mix == 0 {
							t.Errorf("mix is %x whole and %x in pieces", mix, mixed)
						}
					}
				})
			}
		}
	}
}

func equalBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// TestMixTells verifies that the mix depends on each bit of a value, its position and
// its id.
func TestMixTells(t *testing.T) {
	ids, w := []uint32{3, 8}, []float32{1, 2, 3, 4}
	seen := map[uint64]string{mixRows(ids, w, 2): "as it is"}
	tell := func(name string, mix uint64) {
		if other, ok := seen[mix]; ok {
			t.Errorf("%s has the mix of %s", name, other)
		}
		seen[mix] = name
	}
	tell("another id", mixRows([]uint32{3, 9}, w, 2))
	tell("ids exchanged", mixRows([]uint32{8, 3}, w, 2))
	tell("values exchanged", mixRows(ids, []float32{2, 1, 3, 4}, 2))
	tell("another width", mixRows([]uint32{3}, w, 4))
	tell("zero", mixRows(ids, []float32{0, 2, 3, 4}, 2))
	tell("minus zero", mixRows(ids, []float32{float32(math.Copysign(0, -1)), 2, 3, 4}, 2))
}

// TestUpdateRowsAllocatesNothing verifies that UpdateRows allocates nothing after the
// scratch memory has grown.
func TestUpdateRowsAllocatesNothing(t *testing.T) {
	for _, e := range engines(t, 1, 3) {
		u := rowCase(Ftrl, 5000, 8)
		if got := testing.AllocsPerRun(5, func() { e.UpdateRows(Ftrl, u) }); got != 0 {
			t.Errorf("%v: %v allocations, want 0", e, got)
		}
	}
}

// TestMixSets verifies that the sets give the same hash of rows of any width.
func TestMixSets(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	for _, width := range []int{1, 7, 8, 9, 16, 24, 64} {
		for _, n := range []int{0, 1, 2, 129} {
			var ids []uint32
			for range n {
				ids = append(ids, r.Uint32())
			}
			w := random(n*width, 5)
			for i := range w {
				w[i] *= math.Float32frombits(r.Uint32() &^ (1 << 30)) // any exponent below that of 2, either sign
			}
			want := mixRows(ids, w, width)
			for _, s := range Sets() {
				if got := s.mixRows(ids, w, width); got != want {
					t.Errorf("set=%v width=%d n=%d: hash %#x, want %#x", s, width, n, got, want)
				}
			}
		}
	}
}

// BenchmarkUpdateRows measures 100,000 rows of a table of 10,000,000.
func BenchmarkUpdateRows(b *testing.B) {
	for _, width := range []int{1, 8} {
		for r := range rules {
			if r == AdamDecay {
				continue
			}
			b.Run(fmt.Sprintf("width=%d/rule=%s", width, ruleNames[r]), func(b *testing.B) {
				e := New(highest(), 1)
				const rows, n = 4_000_000, 100_000
				memory := []*pages.Floats{pages.Make(rows * width)}
				u := &RowUpdate{W: memory[0].Values, Width: width, Stride: width, C: ruleConstants[r]}
				for i := range ruleKinds[r].slots {
					memory = append(memory, pages.Make(rows*width))
					u.S[i] = memory[1+i].Values
				}
				for i := range n {
					u.IDs = append(u.IDs, uint32(i*(rows/n)+i%7))
				}
				u.G = random(n*width, 2)
				e.UpdateRows(r, u) // allocate the pages
				for b.Loop() {
					e.UpdateRows(r, u)
				}
				runtime.KeepAlive(memory)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
			})
		}
	}
}
