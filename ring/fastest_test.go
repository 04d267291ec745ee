package ring

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// bruteForce is FastestRing by its definition.
func bruteForce(bandwidth [][]float64) []int {
	var all [][]int // all ways from host 0 on, in the order of numbers
	var visit func(way []int)
	visit = func(way []int) {
		if len(way) == len(bandwidth) {
			all = append(all, slices.Clone(way))
			return
		}
		for h := range bandwidth {
			if !slices.Contains(way, h) {
				visit(append(way, h))
			}
		}
	}
	visit([]int{0})
	best := 0.0
	for _, way := range all {
		best = max(best, slowestHop(bandwidth, way))
	}
	for _, way := range all {
		if slowestHop(bandwidth, way) >= best/worthwhile {
			return way
		}
	}
	panic("no way")
}

// TestFastestRingAgainstAll fails if another way around has a slowest hop that is
// faster by a fifth, or an earlier one would do: for up to 7 hosts, with rates
// that differ a lot, little, by direction, and not at all.
func TestFastestRingAgainstAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for n := 1; n <= 7; n++ {
		for _, levels := range []int{1, 2, 3, 1000} {
			for range 30 {
				b := make([][]float64, n)
				for i := range b {
					b[i] = make([]float64, n)
					for j := range b[i] {
						b[i][j] = float64(1 + rng.IntN(levels))
					}
				}
				if got, want := FastestRing(b), bruteForce(b); !slices.Equal(got, want) {
					t.Fatalf("n=%d: way %v with slowest hop %g, want %v with %g; rates %v",
						n, got, slowestHop(b, got), want, slowestHop(b, want), b)
				}
			}
		}
	}
}

// TestFastestRing fails if noise changes the order of hosts, or a slow pair does
// not.
func TestFastestRing(t *testing.T) {
	tests := []struct {
		name    string
		n       int
		a, b    int
		rate    float64 // both ways between a and b; 100 elsewhere
		oneWay  bool
		inOrder bool
	}{
		{"all alike", 4, 0, 1, 100, false, true},
		{"noise", 4, 0, 1, 84, false, true},
		{"slow pair", 4, 0, 1, 50, false, false},
		{"slow pair that no hop takes", 4, 0, 2, 50, false, true},
		{"slow last hop", 4, 0, 3, 50, false, false},
		{"three hosts have one ring", 3, 0, 1, 50, false, true},
		{"three hosts have two ways around it", 3, 0, 1, 50, true, false},
		{"many hosts alike", 40, 0, 1, 90, false, true},
		{"slow pair of many", 40, 17, 18, 10, false, false},
	}
	for _, tt := range tests {
		t.Run("case="+tt.name, func(t *testing.T) {
			b := make([][]float64, tt.n)
			for i := range b {
				b[i] = slices.Repeat([]float64{100}, tt.n)
			}
			b[tt.a][tt.b] = tt.rate
			if !tt.oneWay {
				b[tt.b][tt.a] = tt.rate
			}
			way := FastestRing(b)
			if inOrder(way) != tt.inOrder {
				t.Errorf("way %v, want in order: %v", way, tt.inOrder)
			}
			if !tt.inOrder && slowestHop(b, way) != 100 {
				t.Errorf("way %v has a hop of %g, want 100", way, slowestHop(b, way))
			}
		})
	}
}

// TestFastestRingOfMany fails if the search for many hosts returns what is no ring,
// does not repeat, ends worse than the hosts' order, or is easily beaten.
func TestFastestRingOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{13, 20, 64} {
		b := make([][]float64, n)
		for i := range b {
			b[i] = make([]float64, n)
			for j := range b[i] {
				b[i][j] = 1 + 99*rng.Float64()
			}
		}
		way := FastestRing(b)
		if err := checkOrder(way, n); err != nil || way[0] != 0 {
			t.Fatalf("n=%d: way %v: %v", n, way, err)
		}
		if !slices.Equal(way, FastestRing(b)) {
			t.Errorf("n=%d: another way the second time", n)
		}
		if got, first := slowestHop(b, way), slowestHop(b, upTo(n)); got < first || got < 30 {
			t.Errorf("n=%d: slowest hop %g, in order %g; most of the hops are faster than 30", n, got, first)
		}
	}
}

// TestSearchIsNearlyExact fails if the search for many hosts is far from the best
// where that is known.
func TestSearchIsNearlyExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	ratios := 0.0
	const tries = 100
	for range tries {
		const n = 9
		b := make([][]float64, n)
		for i := range b {
			b[i] = make([]float64, n)
			for j := range b[i] {
				b[i][j] = 1 + 99*rng.Float64()
			}
		}
		ratios += slowestHop(b, search(b)) / slowestHop(b, weighAll(b))
	}
	if mean := ratios / tries; mean < 0.8 {
		t.Errorf("the slowest hop that the search finds is %.2f of the best on average, want 0.8", mean)
	}
}

// BenchmarkFastestRing is the time that choosing takes.
func BenchmarkFastestRing(b *testing.B) {
	for _, n := range []int{4, 12, 32, 256} {
		rng := rand.New(rand.NewPCG(1, 1))
		rates := make([][]float64, n)
		for i := range rates {
			rates[i] = make([]float64, n)
			for j := range rates[i] {
				rates[i][j] = rng.Float64()
			}
		}
		b.Run(fmt.Sprintf("hosts=%d", n), func(b *testing.B) {
			for b.Loop() {
				FastestRing(rates)
			}
		})
	}
}
