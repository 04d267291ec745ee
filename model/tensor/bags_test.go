package tensor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBagsIndex verifies that after Index the ids are distinct and ascending, and each
// pair has its id, for bags of any size and ids of any number of digits.
func TestBagsIndex(t *testing.T) {
	for _, highest := range []uint32{0, 1, 3, 2047, 2048, 1 << 22, 1<<32 - 1} {
		r := rand.New(rand.NewPCG(uint64(highest), 1))
		var b Bags
		for round := range 3 { // each round reuses the memory
			b.Reset(3)
			var want []uint32
			for range 100 * (3 - round) * b.Fields {
				for range r.IntN(5) {
					id := uint32(r.Uint64N(uint64(highest) + 1))
					want = append(want, id)
					b.Add(id, float32(len(want)))
				}
				b.End()
			}
			b.Index()
			distinct := slices.Clone(want)
			slices.Sort(distinct)
			if distinct = slices.Compact(distinct); !slices.Equal(b.IDs, distinct) {
				t.Fatalf("highest=%d: %d distinct ids, want %d", highest, len(b.IDs), len(distinct))
			}
			for k, id := range want {
				if b.IDs[b.Slot[k]] != id || b.Weights[k] != float32(k+1) {
					t.Fatalf("highest=%d: pair %d is (%d, %g), want (%d, %d)", highest, k, b.IDs[b.Slot[k]], b.Weights[k], id, k+1)
				}
			}
			if got := b.Examples(); got != 100*(3-round) {
				t.Errorf("highest=%d: %d examples, want %d", highest, got, 100*(3-round))
			}
		}
	}
}

// TestBagsOfNothing verifies that a zero Bags, a reset one and one of empty bags have no
// ids.
func TestBagsOfNothing(t *testing.T) {
	var b Bags
	if b.Examples() != 0 {
		t.Errorf("a zero Bags has %d examples", b.Examples())
	}
	b.Reset(2)
	b.End()
	b.End()
	b.Index()
	if first, last := b.Start[1], b.Start[2]; b.Examples() != 1 || len(b.IDs) != 0 || first != last {
		t.Errorf("%d examples, %d ids, second bag [%d, %d)", b.Examples(), len(b.IDs), first, last)
	}
}

// TestBagsAllocate verifies that a repeated batch allocates nothing.
func TestBagsAllocate(t *testing.T) {
	var b Bags
	fill := func() {
		b.Reset(1)
		for e := range uint32(50) {
			for k := range uint32(20) {
				b.Add(e*k%301, 1)
			}
			b.End()
		}
		b.Index()
	}
	fill()
	if n := testing.AllocsPerRun(10, fill); n != 0 {
		t.Errorf("%g allocations a batch, want 0", n)
	}
}

// BenchmarkBagsIndex measures shares of 1,000 and 2,000 examples of 39 ids, for table
// sizes around the limit of wordsPerPair.
func BenchmarkBagsIndex(b *testing.B) {
	for _, examples := range []int{1000, 2000} {
		for _, table := range []uint32{1e5, 1e6, 2e6, 4e6, 1e7, 5e7} {
			b.Run(fmt.Sprintf("examples=%d/ids=%d", examples, table), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				ids := make([]uint32, 39*examples)
				for i := range ids {
					u := r.Float64()
					ids[i] = uint32(u * u * u * u * float64(table))
				}
				var bags Bags
				b.SetBytes(int64(4 * len(ids)))
				for b.Loop() {
					bags.Reset(1)
					bags.Slot = append(bags.Slot, ids...)
					bags.Index()
				}
			})
		}
	}
}
