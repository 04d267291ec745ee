package oracle

import (
	"fmt"
	"math"
	"testing"

	"ringtrain/ring/codec"
)

// TestOracleKnowsTheSum verifies that the oracle's sum is that of the ranks' inputs, and that
// each partial sum of neighbours is in the range and exact in float32. The bound relies on
// both.
func TestOracleKnowsTheSum(t *testing.T) {
	for _, p := range []int{1, 2, 3, 8, 17} {
		ranks := make([]*Oracle, p)
		for rank := range ranks {
			ranks[rank] = New(rank, p, codec.None)
		}
		for i := 0; i < period; i += 61 {
			for first := range p {
				exact, sum := 0.0, float32(0)
				for k := range p {
					v := ranks[(first+k)%p].own[i]
					exact, sum = exact+float64(v), sum+v
					if float64(sum) != exact || math.Abs(exact) >= partial {
						t.Fatalf("ranks=%d element=%d: %d ranks from %d on sum up to %v (%v in float32), want equal and below %d", p, i, k+1, first, exact, sum, partial)
					}
				}
				if sum != ranks[0].sum[i] {
					t.Fatalf("ranks=%d element=%d: the sum is %v, want the oracle's %v", p, i, sum, ranks[0].sum[i])
				}
			}
		}
	}
}

// TestUnit verifies that each codec's loss is at most the assumed one, and near it. A looser
// assumption would let wrong sums pass.
func TestUnit(t *testing.T) {
	for _, c := range codec.All() {
		t.Run(fmt.Sprintf("codec=%v", c), func(t *testing.T) {
			if !c.Lossy() {
				if bound(8, c) != 0 {
					t.Errorf("bound of an exact codec is %g, want 0", bound(8, c))
				}
				return
			}
			// The largest elements cover a binade. At 1 + 2⁻ᵏ the middle between two
			// values is large relative to the element.
			worst := 0.0
			for step := range 64 {
				for _, most := range []float64{1 + float64(step)/64, 1 + math.Ldexp(1, -step%16)} {
					worst = max(worst, loss(t, c, most, step%16))
				}
			}
			if u := c.Unit(); worst > u || worst < 0.99*u {
				t.Errorf("largest loss is %g of the largest element, want up to %g and near it", worst, u)
			}
		})
	}
}

// loss encodes a grid below most, its block-th share at a time with most in it. It returns the
// largest error relative to most.
func loss(t *testing.T, c codec.Codec, most float64, block int) float64 {
	x := make([]float32, 256)
	x[0] = float32(most)
	for i := 1; i < len(x); i++ {
		x[i] = float32(most * (float64(i*16+block)/(256*16) - 1e-9))
	}
	decoded := make([]float32, len(x))
	if err := c.Decode(decoded, c.Append(nil, x)); err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for i := range x {
		worst = max(worst, math.Abs(float64(x[i])-float64(decoded[i]))/float64(x[0]))
	}
	return worst
}

// TestMissingRankIsDetected verifies that a sum without one of the ranks, or with one twice, mostly
// fails the check.
func TestMissingRankIsDetected(t *testing.T) {
	for _, c := range codec.All() {
		for _, p := range []int{2, 3, 8, 20, 64} {
			t.Run(fmt.Sprintf("codec=%v/ranks=%d", c, p), func(t *testing.T) {
				for _, rank := range []int{0, p / 2, p - 1} {
					o := New(rank, p, c)
					for _, times := range []float32{-1, 1} {
						var seen Deviation
						got := make([]float32, 2*period)
						for i := range got {
							got[i] = o.sum[i%period] + times*o.own[i%period]
						}
						o.Check(&seen, got)
						if share := float64(seen.Wrong) / float64(len(got)); share < 0.15 || p <= 20 && share < 0.5 {
							t.Errorf("rank %d added %g times too often: %.2f of the elements are wrong, want most, and at 64 ranks some", rank, times, share)
						}
					}
				}
			})
		}
	}
}

// TestMisplacedIsDetected verifies that a chunk in another chunk's place fails the check.
func TestMisplacedIsDetected(t *testing.T) {
	for _, c := range codec.All() {
		for _, by := range []int{1, 64, 1 << 16, 1 << 21} {
			o := New(0, 4, c)
			got := make([]float32, period)
			for i := range got {
				got[i] = o.sum[(i+by)%period]
			}
			var seen Deviation
			o.Check(&seen, got)
			if seen.Wrong < period/2 {
				t.Errorf("codec=%v: %d of %d elements that are off by %d places are wrong, want most", c, seen.Wrong, period, by)
			}
		}
	}
}

// TestCheckKeepsNaN verifies that a NaN counts as wrong, and that the largest error is
// NaN then.
func TestCheckKeepsNaN(t *testing.T) {
	o := New(0, 2, codec.Int8)
	got := make([]float32, 3)
	o.Fill(got)
	copy(got, o.sum[:])
	got[1] = float32(math.NaN())
	var seen Deviation
	o.Check(&seen, got)
	if seen.Wrong != 1 || !math.IsNaN(seen.MaxError) {
		t.Errorf("%d wrong, largest error %g, want 1 and NaN", seen.Wrong, seen.MaxError)
	}
}
