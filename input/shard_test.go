package input

import "testing"

// TestShare verifies that shares are even and cover all items without overlap.
func TestShare(t *testing.T) {
	for n := range 60 {
		for size := 1; size <= 21; size++ {
			end := 0
			for rank := range size {
				first, last := Share(n, rank, size)
				if first != end || last < first {
					t.Fatalf("n=%d size=%d rank=%d: share [%d, %d), want it to begin at %d", n, size, rank, first, last, end)
				}
				if got := last - first; got != n/size && got != n/size+1 {
					t.Fatalf("n=%d size=%d rank=%d: %d things", n, size, rank, got)
				}
				end = last
			}
			if end != n {
				t.Fatalf("n=%d size=%d: shares end at %d", n, size, end)
			}
		}
	}
}

// TestEvalBlocks verifies that ranks get whole blocks and every record is evaluated
// once.
func TestEvalBlocks(t *testing.T) {
	for _, records := range []int{0, 1, 255, 256, 257, 1000, 10000} {
		for _, size := range []int{1, 2, 3, 5, 20, 100} {
			end := 0
			for rank := range size {
				first, last := EvalBlocks(records, rank, size)
				if first != end || last < first || first%EvalBlock != 0 && first != records {
					t.Fatalf("records=%d size=%d rank=%d: [%d, %d), want whole blocks from %d on", records, size, rank, first, last, end)
				}
				end = last
			}
			if end != records {
				t.Fatalf("records=%d size=%d: evaluation ends at %d", records, size, end)
			}
		}
	}
}

// TestShareOfBadRank verifies that a wrong rank panics.
func TestShareOfBadRank(t *testing.T) {
	for _, rank := range []int{-1, 3} {
		func() {
			defer func() {
				if fault := recover(); fault != "input: rank is not in [0, size)" {
					t.Errorf("rank=%d size=3: panic %v, want one that names the rank", rank, fault)
				}
			}()
			Share(1, rank, 3)
		}()
	}
}
