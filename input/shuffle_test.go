package input

import (
	"fmt"
	"slices"
	"testing"
)

// TestOrderIsBijection verifies that an epoch has every record exactly once.
func TestOrderIsBijection(t *testing.T) {
	seen := make([]int, 5001)
	for n := 1; n <= 5000; n++ {
		o := newOrder(7, int64(n%3), n)
		for i := range n {
			r := o.at(i)
			if r < 0 || r >= n {
				t.Fatalf("n=%d: place %d is record %d", n, i, r)
			}
			if seen[r] == n {
				t.Fatalf("n=%d: record %d comes twice", n, r)
			}
			seen[r] = n
		}
	}
}

// TestOrderIsUniform verifies that each of the n! orders of n records is equally
// frequent, within five standard deviations.
func TestOrderIsUniform(t *testing.T) {
	const rounds = 24000
	for n, orders := range map[int]int{2: 2, 3: 6, 4: 24, 5: 120} {
		t.Run(fmt.Sprintf("n=%d", n), func(t *testing.T) {
			counts := map[string]int{}
			for seed := range uint64(rounds) {
				o := newOrder(seed/4, int64(seed%4), n)
				var s []byte
				for i := range n {
					s = append(s, byte('0'+o.at(i)))
				}
				counts[string(s)]++
			}
			if len(counts) != orders {
				t.Errorf("%d orders of %d occur", len(counts), orders)
			}
			want := float64(rounds) / float64(orders)
			chi := 0.0
			for _, c := range counts {
				chi += (float64(c) - want) * (float64(c) - want) / want
			}
			if free := float64(orders - 1); (chi-free)*(chi-free) > 25*2*free {
				t.Errorf("chi square is %.1f with %d degrees of freedom", chi, orders-1)
			}
		})
	}
}

// TestOrderMixes verifies that each tenth of a file is spread evenly over the tenths of
// the epoch.
func TestOrderMixes(t *testing.T) {
	for _, n := range []int{1000, 1024, 60000} {
		for epoch := range int64(3) {
			o := newOrder(1, epoch, n)
			var counts [10][10]int
			for i := range n {
				counts[i*10/n][o.at(i)*10/n]++
			}
			want, chi := float64(n)/100, 0.0
			for _, row := range counts {
				for _, c := range row {
					chi += (float64(c) - want) * (float64(c) - want) / want
				}
			}
			if chi > 150 { // 81 degrees of freedom: mean 81, deviation 12.7
				t.Errorf("n=%d epoch=%d: chi square is %.1f, want about 81", n, epoch, chi)
			}
		}
	}
}

// TestOrderDependsOn verifies that the order depends on epoch and seed only, and equals
// the golden order: otherwise a run could not resume after an upgrade.
func TestOrderDependsOn(t *testing.T) {
	list := func(seed uint64, epoch int64, n int) (all []int) {
		o := newOrder(seed, epoch, n)
		for i := range n {
			all = append(all, o.at(i))
		}
		return all
	}
	golden := fmt.Sprint(list(1, 0, 12))
	if want := "[5 11 1 2 0 4 9 3 6 10 7 8]"; golden != want {
		t.Errorf("order of seed 1, epoch 0, 12 records is %s, want %s", golden, want)
	}
	for _, other := range [][]int{list(2, 0, 12), list(1, 1, 12), list(0, 1, 12)} {
		if fmt.Sprint(other) == golden {
			t.Errorf("another seed or epoch has the same order %v", other)
		}
	}
}

func BenchmarkOrder(b *testing.B) {
	o := newOrder(1, 0, 60000)
	i := 0
	for b.Loop() {
		o.at(i % 60000)
		i++
	}
}

// TestOrderAppend verifies append against at for any number of positions.
func TestOrderAppend(t *testing.T) {
	for _, n := range []int{1, 2, 5, 99, 1000, 1001} {
		o := newOrder(9, 2, n)
		for _, from := range []int{0, n / 3, max(n-7, 0)} {
			for to := from; to <= n; to += 1 + n/50 {
				var want []int
				for i := from; i < to; i++ {
					want = append(want, o.at(i))
				}
				if got := o.append(nil, from, to); !slices.Equal(got, want) {
					t.Fatalf("n=%d: places %d to %d are %v, want %v", n, from, to, got, want)
				}
			}
		}
	}
	var files order
	if got := files.append(nil, 3, 9); !slices.Equal(got, []int{3, 4, 5, 6, 7, 8}) {
		t.Errorf("the order of the files is %v", got)
	}
}
