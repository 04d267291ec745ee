package column

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestMoments verifies mean and deviations of numbers of all sizes against rational arithmetic, and that they are the same
// bits in any order, however the numbers are cut.
func TestMoments(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	kinds := map[string]func() float64{
		"size=one":   random.NormFloat64,
		"size=any":   func() float64 { return math.Ldexp(random.NormFloat64(), random.IntN(248)-124) },
		"size=equal": func() float64 { return -0.1 },
		"size=large": func() float64 { return 1e9 + random.Float64() },
		"size=extreme": func() float64 {
			return []float64{0, math.MaxFloat32, -math.MaxFloat32, 0x1p-126, -0x1.fffffffffffffp-126}[random.IntN(5)]
		},
		"size=below": func() float64 { return []float64{1, 1e-60, -1e-300, math.SmallestNonzeroFloat64}[random.IntN(4)] },
	}
	for name, draw := range kinds {
		var numbers []float64
		for range 1000 {
			numbers = append(numbers, draw())
		}
		var whole moments
		sum, squares, n := new(big.Rat), new(big.Rat), big.NewRat(int64(len(numbers)), 1)
		for _, x := range numbers {
			whole.add(x, x)
			if math.Abs(x) < 1e-50 {
				x = 0
			}
			r := new(big.Rat).SetFloat64(x)
			sum.Add(sum, r)
			squares.Add(squares, r.Mul(r, r))
		}
		mean, _ := new(big.Rat).Quo(sum, n).Float64()
		of := new(big.Rat).Quo(new(big.Rat).Mul(sum, sum), n)
		deviations, _ := of.Sub(squares, of).Float64()
		if whole.mean() != mean || whole.deviations() != deviations {
			t.Errorf("%s: mean %g and deviations %g, want %g and %g", name, whole.mean(), whole.deviations(), mean, deviations)
		}
		for range 5 {
			random.Shuffle(len(numbers), func(i, k int) { numbers[i], numbers[k] = numbers[k], numbers[i] })
			var all moments
			for rest := numbers; len(rest) > 0; {
				k := min(1+random.IntN(300), len(rest))
				var part moments
				for _, x := range rest[:k] {
					part.add(x, x)
				}
				all.merge(&part)
				rest = rest[k:]
			}
			whole.settle()
			if all != whole {
				t.Errorf("%s: another order and other parts make %+v, want %+v", name, all, whole)
			}
		}
	}
}

func BenchmarkMoments(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	numbers := make([]float64, 4096)
	for i := range numbers {
		numbers[i] = random.NormFloat64()
	}
	var m moments
	for i := 0; b.Loop(); i++ {
		x := numbers[i%len(numbers)]
		m.add(x, x)
	}
}
