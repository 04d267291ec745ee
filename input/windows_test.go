package input

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// blocked is a data set of these numbers of records in blocks.
type blocked struct {
	Dataset
	blocks *Blocks
}

func (b blocked) Blocks() *Blocks { return b.blocks }
func (b blocked) Len() int        { return b.blocks.Records() }

// drawBlocks draws counts of blocks, with blocks that have none.
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

// TestWindowsBijection verifies, over counts, seeds and epochs, that an epoch has every
// record once, and that a window has the records of its blocks alone.
func TestWindowsBijection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawBlocks(t, 3*WindowBlocks)
		seed, epoch := rapid.Uint64().Draw(t, "seed"), rapid.Int64Range(0, 5).Draw(t, "epoch")
		s := newSequence(d, true, seed, epoch)
		if want := d.blocks.Len() > WindowBlocks; (s.windows != nil) != want {
			t.Fatalf("%d blocks: windows %t, want %t", d.blocks.Len(), s.windows != nil, want)
		}
		seen := make([]bool, d.Len())
		left := map[int]int{} // block → records that have not come, of blocks that have begun
		for i := range d.Len() {
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

// TestWindowsAnyPlace verifies that the record of a place does not depend on the places
// that were asked for before: a run that resumes goes on with the same records.
func TestWindowsAnyPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawBlocks(t, 3*WindowBlocks)
		one, other := newSequence(d, true, 7, 1), newSequence(d, true, 7, 1)
		for range 50 {
			i := rapid.IntRange(0, d.Len()-1).Draw(t, "place")
			other.at(rapid.IntRange(0, d.Len()-1).Draw(t, "before"))
			if a, b := one.at(i), other.at(i); a != b {
				t.Fatalf("place %d is record %d or %d", i, a, b)
			}
		}
	})
}

// TestWindowsMix verifies that the records of one block lie apart: in a window of blocks of
// equal length, neighbours in a block come next to each other as rarely as by chance. It
// also verifies that seed and epoch matter, and holds every release to the golden order.
func TestWindowsMix(t *testing.T) {
	counts := make([]uint16, 4*WindowBlocks)
	for i := range counts {
		counts[i] = 40
	}
	d := blocked{blocks: NewBlocks(counts)}
	list := func(seed uint64, epoch int64, n int) (all []int) {
		s := newSequence(d, true, seed, epoch)
		for i := range n {
			all = append(all, s.at(i))
		}
		return all
	}
	together := 0
	for i, all := 1, list(1, 0, d.Len()); i < len(all); i++ {
		if all[i]/40 == all[i-1]/40 {
			together++
		}
	}
	if want := d.Len() / WindowBlocks; together < want/2 || together > 2*want {
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
