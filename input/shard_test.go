package input

import "testing"

// TestShare would fail if shares overlapped, left a gap or were uneven.
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

// TestEvalBlocks would fail if a block of records were split between ranks, or
// if a record were evaluated twice or not at all.
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

// TestShareOfBadRank would fail if a wrong rank got records silently.
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
