package input

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// blocked is a data set of records in blocks.
type blocked struct{ blocks *Blocks }

func (b blocked) facts() *Facts { return &Facts{Records: b.blocks.Records(), Blocks: b.blocks} }

// drawBlocks returns random block counts, some of them 0.
func drawBlocks(t *rapid.T, most int) blocked {
	n := rapid.IntRange(1, most).Draw(t, "blocks")
	high := rapid.SampledFrom([]uint16{1, 3, 40, 300}).Draw(t, "high")
	key := rapid.Uint64().Draw(t, "key")
	counts := make([]uint16, n)
	for i := range counts {
		counts[i] = uint16(below(mix(key+uint64(i)), uint64(high)+1))
	}
	counts[n/2]++ // one record at least
	return blocked{blocks: NewBlocks(counts)}
}

// TestBlocksFind verifies that Find, First and Count agree for every record.
func TestBlocksFind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawBlocks(t, 300).blocks
		record := 0
		for b := range s.Len() {
			if got := s.First(b); got != record {
				t.Fatalf("%d records before block %d, want %d", got, b, record)
			}
			for k := range s.Count(b) {
				if block, place := s.Find(record); block != b || place != k {
					t.Fatalf("record %d is %d of block %d, want %d of %d", record, place, block, k, b)
				}
				record++
			}
		}
		if s.Records() != record || s.First(s.Len()) != record {
			t.Fatalf("%d records, %d before the end, want %d", s.Records(), s.First(s.Len()), record)
		}
	})
}

// at returns the record at position i of the epoch: that of a global batch of one
// record.
func (s *sequence) at(i int) int { return s.share(nil, i, i+1, 0, 1)[0] }

// TestWindowsBijection verifies, over counts, seeds and epochs, that an epoch has every
// record once, and that a window has only the records of its blocks.
func TestWindowsBijection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawBlocks(t, 3*WindowBlocks)
		seed, epoch := rapid.Uint64().Draw(t, "seed"), rapid.Int64Range(0, 5).Draw(t, "epoch")
		s := newSequence(d.facts(), true, seed, epoch)
		if want := d.blocks.Len() > WindowBlocks; (s.windows != nil) != want {
			t.Fatalf("%d blocks: windows %t, want %t", d.blocks.Len(), s.windows != nil, want)
		}
		seen := make([]bool, d.blocks.Records())
		left := map[int]int{} // block → records that have not come, of blocks that have begun
		for i := range d.blocks.Records() {
			r := s.at(i)
			if r < 0 || r >= len(seen) || seen[r] {
				t.Fatalf("place %d is record %d of %d, seen before", i, r, len(seen))
			}
			seen[r] = true
			block, _ := d.blocks.Find(r)
			if _, ok := left[block]; !ok {
				left[block] = d.blocks.Count(block)
			}
			if left[block]--; left[block] == 0 {
				delete(left, block)
			}
			if len(left) > WindowBlocks {
				t.Fatalf("place %d: %d blocks are in use, want at most %d", i, len(left), WindowBlocks)
			}
		}
	})
}

// TestWindowsAnyPlace verifies that the record at a position does not depend on earlier
// queries: a resumed run has the same records.
func TestWindowsAnyPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawBlocks(t, 3*WindowBlocks)
		one, other := newSequence(d.facts(), true, 7, 1), newSequence(d.facts(), true, 7, 1)
		for range 50 {
			i := rapid.IntRange(0, d.blocks.Records()-1).Draw(t, "place")
			other.at(rapid.IntRange(0, d.blocks.Records()-1).Draw(t, "before"))
			if a, b := one.at(i), other.at(i); a != b {
				t.Fatalf("place %d is record %d or %d", i, a, b)
			}
		}
	})
}

// TestWindowsMix verifies that the records of one block are spread: in a window of
// blocks of equal length, neighbours in a block are adjacent only by chance. It also
// verifies that seed and epoch matter, and the golden order.
func TestWindowsMix(t *testing.T) {
	counts := make([]uint16, 4*WindowBlocks)
	for i := range counts {
		counts[i] = 40
	}
	d := blocked{blocks: NewBlocks(counts)}
	list := func(seed uint64, epoch int64, n int) (all []int) {
		s := newSequence(d.facts(), true, seed, epoch)
		for i := range n {
			all = append(all, s.at(i))
		}
		return all
	}
	together := 0
	for i, all := 1, list(1, 0, d.blocks.Records()); i < len(all); i++ {
		if all[i]/40 == all[i-1]/40 {
			together++
		}
	}
	if want := d.blocks.Records() / WindowBlocks; together < want/2 || together > 2*want {
		t.Errorf("%d pairs of neighbours are of one block, want about %d", together, want)
	}
	golden := fmt.Sprint(list(1, 0, 8))
	if want := "[1785 6420 40628 32923 16071 31125 10322 33497]"; golden != want {
		t.Errorf("order of seed 1, epoch 0 begins with %s, want %s", golden, want)
	}
	for _, other := range [][]int{list(2, 0, 8), list(1, 1, 8)} {
		if fmt.Sprint(other) == golden {
			t.Errorf("another seed or epoch has the same order %v", other)
		}
	}
}

// TestWindowsShare verifies that a global batch has the records of its positions at any
// world size, in the same order, and that each rank needs about its share of the
// window's blocks.
func TestWindowsShare(t *testing.T) {
	counts := make([]uint16, 2*WindowBlocks+100)
	for i := range counts {
		counts[i] = uint16(200 + i%70)
	}
	d := blocked{blocks: NewBlocks(counts)}
	s := newSequence(d.facts(), true, 3, 0)
	edge := s.windows.starts[1]
	for _, c := range []struct{ first, last, blocks int }{
		{0, 2000, WindowBlocks},
		{1000, 1001, 1},
		{edge - 700, edge + 900, 2 * WindowBlocks}, // of two windows
		{5000, 5000 + 2*arrangeRecords + 10, WindowBlocks},
		{d.blocks.Records() - 10, d.blocks.Records(), 10},
	} {
		var places, whole []int
		for i := c.first; i < c.last; i++ {
			places = append(places, s.at(i))
		}
		slices.Sort(places)
		for _, size := range []int{1, 2, 3, 7} {
			var all []int
			for rank := range size {
				from, to := Share(c.last-c.first, rank, size)
				share := s.share(nil, c.first, c.last, from, to)
				if len(share) != to-from {
					t.Fatalf("places %d to %d: rank %d of %d has %d records, want %d", c.first, c.last, rank, size, len(share), to-from)
				}
				blocks := map[int]bool{}
				for _, r := range share {
					block, _ := d.blocks.Find(r)
					blocks[block] = true
				}
				if most := c.blocks/size + c.blocks/16 + 2; c.last-c.first <= arrangeRecords && len(blocks) > most {
					t.Errorf("places %d to %d: rank %d of %d needs %d blocks, want at most %d", c.first, c.last, rank, size, len(blocks), most)
				}
				all = append(all, share...)
			}
			if size == 1 {
				whole = slices.Clone(all)
			}
			if !slices.Equal(all, whole) {
				t.Errorf("places %d to %d: %d ranks have another order than one", c.first, c.last, size)
			}
			slices.Sort(all)
			if !slices.Equal(all, places) {
				t.Errorf("places %d to %d: %d ranks have other records", c.first, c.last, size)
			}
		}
	}
}

// TestWindowsEpochBlocks verifies that over an epoch each of two ranks needs about half
// of the blocks, although some global batches span two windows.
func TestWindowsEpochBlocks(t *testing.T) {
	counts := make([]uint16, 4*WindowBlocks+40)
	for i := range counts {
		counts[i] = 200
	}
	d := blocked{blocks: NewBlocks(counts)}
	s := newSequence(d.facts(), true, 5, 0)
	const batch = 1900
	for rank := range 2 {
		blocks := map[int]bool{}
		for first := 0; first < d.blocks.Records(); first += batch {
			last := min(first+batch, d.blocks.Records())
			from, to := Share(last-first, rank, 2)
			for _, r := range s.share(nil, first, last, from, to) {
				block, _ := d.blocks.Find(r)
				blocks[block] = true
			}
		}
		if most := len(counts) * 6 / 10; len(blocks) > most {
			t.Errorf("rank %d needs %d blocks of %d, want at most %d", rank, len(blocks), len(counts), most)
		}
	}
}
