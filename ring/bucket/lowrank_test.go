package bucket

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// newLowRank returns the state of a matrix before the first step.
func newLowRank(rows, cols, rank int, seed uint64) *lowRank {
	l := &lowRank{
		rows: rows, cols: cols, rank: rank, seed: seed,
		p: make([]float32, rank*rows), q: make([]float32, rank*cols), lost: make([]float32, rows*cols),
	}
	l.reset()
	return l
}

// lowRankStep runs one step of p ranks, whose gradients become the sum.
func lowRankStep(ranks []*lowRank, grads [][]float32) {
	sum := func(of func(*lowRank) []float32) {
		total := make([]float32, len(of(ranks[0])))
		for _, l := range ranks {
			axpy(1, of(l), total)
		}
		for _, l := range ranks {
			copy(of(l), total)
		}
	}
	for i, l := range ranks {
		l.first(grads[i])
	}
	sum(func(l *lowRank) []float32 { return l.p })
	for i, l := range ranks {
		l.second(grads[i])
	}
	sum(func(l *lowRank) []float32 { return l.q })
	for i, l := range ranks {
		l.third(grads[i])
	}
}

// product returns rank-r gradients of rows×cols: what a lowRank can tell whole.
func product(rows, cols, rank int, seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	g := make([]float32, rows*cols)
	for range rank {
		u, v := make([]float32, rows), make([]float32, cols)
		for i := range u {
			u[i] = float32(rng.NormFloat64())
		}
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		for i := range rows {
			axpy(u[i], v, g[i*cols:(i+1)*cols])
		}
	}
	return g
}

// TestLowRankIsExact verifies that gradients of the given rank are summed exactly, without the
// help of error feedback.
func TestLowRankIsExact(t *testing.T) {
	const rows, cols, rank, p = 40, 30, 3, 3
	base := product(rows, cols, rank, 7)
	ranks, grads := make([]*lowRank, p), make([][]float32, p)
	want := make([]float32, rows*cols)
	for i := range ranks {
		ranks[i] = newLowRank(rows, cols, rank, 1)
		grads[i] = append([]float32(nil), base...)
		scale(float32(i+1), grads[i]) // the same column space
		axpy(1, grads[i], want)
	}
	lowRankStep(ranks, grads)
	for i := range ranks {
		for j, v := range grads[i] {
			if d := math.Abs(float64(v - want[j])); !(d <= 1e-3*(1+math.Abs(float64(want[j])))) {
				t.Fatalf("rank %d, element %d is %g, want %g", i, j, v, want[j])
			}
		}
	}
}

// TestLowRankLosesNothing verifies that the residuals of the ranks hold the losses of a step:
// sums over many steps approach the sums of the gradients.
func TestLowRankLosesNothing(t *testing.T) {
	const rows, cols, rank, p, steps = 24, 20, 2, 4, 60
	rng := rand.New(rand.NewPCG(3, 3))
	ranks, grads := make([]*lowRank, p), make([][]float32, p)
	fixed := make([][]float32, p)
	for i := range ranks {
		ranks[i] = newLowRank(rows, cols, rank, 1)
		fixed[i], grads[i] = make([]float32, rows*cols), make([]float32, rows*cols)
		for j := range fixed[i] {
			fixed[i][j] = float32(rng.NormFloat64())
		}
	}
	got, want := make([]float32, rows*cols), make([]float32, rows*cols)
	for range steps {
		for i := range ranks {
			copy(grads[i], fixed[i])
			axpy(1, fixed[i], want)
		}
		lowRankStep(ranks, grads)
		axpy(1, grads[0], got)
	}
	lost := make([]float32, rows*cols)
	for _, l := range ranks {
		axpy(1, l.lost, lost)
	}
	for j := range want {
		if d := math.Abs(float64(want[j] - got[j] - lost[j])); !(d <= 1e-2) {
			t.Fatalf("element %d: %g summed and %g kept, want %g in all", j, got[j], lost[j], want[j])
		}
	}
	axpy(-1, want, got)
	if r := norm(got) / norm(want); !(r <= 0.25) {
		t.Errorf("after %d steps the sums lack %.2f of the gradients, want less than 0.25", steps, r)
	}
}

// TestLowRankOfNothing verifies that the factors of a zero gradient are not NaN.
func TestLowRankOfNothing(t *testing.T) {
	ranks := []*lowRank{newLowRank(12, 12, 2, 1)}
	for _, v := range []float32{0, 1e-30, 0} {
		g := make([]float32, 12*12)
		g[5] = v
		for range 3 {
			lowRankStep(ranks, [][]float32{g})
		}
		for i, x := range g {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				t.Fatalf("v=%g: element %d is %g", v, i, x)
			}
		}
	}
}

// TestLowRankComesBack verifies that a gradient which was zero in all steps so far is summed
// from its first other value on.
func TestLowRankComesBack(t *testing.T) {
	const rows, cols = 30, 24
	l := newLowRank(rows, cols, 3, 1)
	for range 3 {
		lowRankStep([]*lowRank{l}, [][]float32{make([]float32, rows*cols)})
	}
	g := product(rows, cols, 2, 5)
	want := slices.Clone(g)
	lowRankStep([]*lowRank{l}, [][]float32{g})
	axpy(-1, want, g)
	if off := norm(g) / norm(want); !(off <= 1e-3) {
		t.Errorf("the sum is %.3f off, want 0.001 at most", off)
	}
}

// TestLowRankHasNoTwins sums gradients of fewer directions than the rank, of few rows that are
// not zero, at any scale. It verifies that the columns of P stay orthogonal, so that no
// direction counts twice, and that the residual stays small.
func TestLowRankHasNoTwins(t *testing.T) {
	const rows, cols, rank = 40, 30, 8
	for _, scaled := range []float32{1e-12, 1e-6, 1, 1e9, 1e30} {
		for _, directions := range []int{1, 2, 5} {
			t.Run(fmt.Sprintf("scale=%g/directions=%d", scaled, directions), func(t *testing.T) {
				l := newLowRank(rows, cols, rank, 1)
				base := product(rows, cols, directions, 3)
				clear(base[directions*cols:])
				scale(scaled, base)
				for step := range 20 {
					g := slices.Clone(base)
					lowRankStep([]*lowRank{l}, [][]float32{g})
					for i := range rank {
						for j := range i {
							if c := inner(l.p[i*rows:][:rows], l.p[j*rows:][:rows]); !(math.Abs(c) <= 1e-2) {
								t.Fatalf("step %d: columns %d and %d of P have the product %g, want 0", step, j, i, c)
							}
						}
					}
				}
				if lost := norm(l.lost) / norm(base); !(lost <= 0.1) {
					t.Errorf("after 20 steps %.3f of a gradient is lost, want 0.1 at most", lost)
				}
			})
		}
	}
}

// TestLowRankPays verifies that no factors are sent that are as large as their matrix.
func TestLowRankPays(t *testing.T) {
	for _, tt := range []struct {
		rows, cols, rank int
		want             bool
	}{{784, 1024, 4, true}, {10, 10, 4, false}, {1000, 1, 4, false}, {16, 16, 4, false}, {17, 17, 4, true}, {784, 1024, 0, false}} {
		t.Run(fmt.Sprintf("rows=%d/cols=%d/rank=%d", tt.rows, tt.cols, tt.rank), func(t *testing.T) {
			if got := lowRankPays(tt.rows, tt.cols, tt.rank); got != tt.want {
				t.Errorf("pays is %v, want %v", got, tt.want)
			}
		})
	}
}

// BenchmarkLowRank measures what a rank computes for a matrix in a step, in bytes
// of float32 a second.
func BenchmarkLowRank(b *testing.B) {
	const rows, cols = 1024, 1024
	for _, rank := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("rank=%d", rank), func(b *testing.B) {
			l := newLowRank(rows, cols, rank, 1)
			g, m := product(rows, cols, 16, 1), make([]float32, rows*cols)
			b.SetBytes(4 * rows * cols)
			for b.Loop() {
				copy(m, g)
				l.first(m)
				l.second(m)
				l.third(m)
			}
		})
	}
}
