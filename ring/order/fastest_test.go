package order

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// bruteForce is fastestRing by its definition: it compares all tours.
func bruteForce(bandwidth [][]float64) []int {
	var all [][]int // all tours from host 0, in lexical order
	var visit func(tour []int)
	visit = func(tour []int) {
		if len(tour) == len(bandwidth) {
			all = append(all, slices.Clone(tour))
			return
		}
		for h := range bandwidth {
			if !slices.Contains(tour, h) {
				visit(append(tour, h))
			}
		}
	}
	visit([]int{0})
	best := 0.0
	for _, tour := range all {
		best = max(best, slowestHop(bandwidth, tour))
	}
	for _, tour := range all {
		if slowestHop(bandwidth, tour) >= best/worthwhile {
			return tour
		}
	}
	panic("no tour")
}

// TestFastestRingAgainstAll verifies that no tour has a slowest hop that is faster by a
// fifth, and that no earlier tour would do, for up to 7 hosts. The rates differ much,
// little, by direction, or not at all.
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
				if got, want := fastestRing(b), bruteForce(b); !slices.Equal(got, want) {
					t.Fatalf("n=%d: tour %v with slowest hop %g, want %v with %g; rates %v",
						n, got, slowestHop(b, got), want, slowestHop(b, want), b)
				}
			}
		}
	}
}

// TestFastestRing verifies that a slow pair of hosts changes the order and that noise does
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
			tour := fastestRing(b)
			if isIdentity(tour) != tt.inOrder {
				t.Errorf("tour %v, want in order: %v", tour, tt.inOrder)
			}
			if !tt.inOrder && slowestHop(b, tour) != 100 {
				t.Errorf("tour %v has a hop of %g, want 100", tour, slowestHop(b, tour))
			}
		})
	}
}

// TestFastestRingOfMany verifies that the search for many hosts returns a tour, repeats
// exactly, and is no slower than the hosts' order.
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
		tour := fastestRing(b)
		if err := Check(tour, n); err != nil || tour[0] != 0 {
			t.Fatalf("n=%d: tour %v: %v", n, tour, err)
		}
		if !slices.Equal(tour, fastestRing(b)) {
			t.Errorf("n=%d: another tour the second time", n)
		}
		ordered := make([]int, n)
		for h := range ordered {
			ordered[h] = h
		}
		if got, first := slowestHop(b, tour), slowestHop(b, ordered); got < first || got < 30 {
			t.Errorf("n=%d: slowest hop %g, in order %g; most of the hops are faster than 30", n, got, first)
		}
	}
}

// TestSearchIsNearlyExact verifies that the search comes close to the exact tour for a
// number of hosts that exactRing can solve.
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
		ratios += slowestHop(b, searchRing(b)) / slowestHop(b, exactRing(b))
	}
	if mean := ratios / tries; mean < 0.8 {
		t.Errorf("the slowest hop that the search finds is %.2f of the best on average, want 0.8", mean)
	}
}

// BenchmarkFastestRing measures the choice of a tour for several numbers of hosts.
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
				fastestRing(rates)
			}
		})
	}
}
