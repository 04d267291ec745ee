package kernel

import (
	"fmt"
	"math"
	"testing"
)

// TestSumRows verifies the sum of rows against its definition, bit for bit, for numbers
// of rows around a block, with and without add.
func TestSumRows(t *testing.T) {
	onEngines(t, func(t *testing.T, e *Engine) {
		for _, rows := range []int{0, 1, 7, 255, 256, 257, 1030} {
			for _, cols := range []int{1, 10, 32, 700} {
				m := random(rows*cols, 1)
				want := make([]float32, cols)
				for lo := 0; lo < rows; lo += sumBlock {
					for j := range cols {
						sum := float32(0)
						for i := lo; i < min(rows, lo+sumBlock); i++ {
							sum += m[i*cols+j]
						}
						if lo == 0 {
							want[j] = sum
						} else {
							want[j] += sum
						}
					}
				}
				got := dirty(cols)
				e.SumRows(got, m, rows, false)
				wantSame(t, fmt.Sprintf("rows=%d/cols=%d", rows, cols), got, want)
				first := random(cols, 2)
				copy(got, first)
				e.SumRows(got, m, rows, true)
				for j := range want {
					want[j] += first[j]
				}
				wantSame(t, fmt.Sprintf("add/rows=%d/cols=%d", rows, cols), got, want)
			}
		}
	})
}

// TestLaneSum verifies laneSum and laneSquares, and that laneSum has equal bits in all
// sets.
func TestLaneSum(t *testing.T) {
	for n := range 100 {
		x := random(n, uint64(n))
		sum, squares, size := 0.0, 0.0, 0.0
		for _, v := range x {
			sum += float64(v)
			size += math.Abs(float64(v))
			squares += (float64(v) - 0.25) * (float64(v) - 0.25)
		}
		for _, s := range Sets() {
			if got := laneSum(s, x); math.Abs(float64(got)-sum) > 1e-6*size || !same(got, laneSum(Portable, x)) {
				t.Errorf("set=%v/n=%d: sum is %g, want %g", s, n, got, sum)
			}
		}
		if got := laneSquares(x, 0.25); math.Abs(float64(got)-squares) > 2e-6*squares {
			t.Errorf("n=%d: squares are %g, want %g", n, got, squares)
		}
	}
}
