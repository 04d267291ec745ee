package input

import "math"

// BlockBytes is the length of a block of text. A record belongs to the block in which
// its line begins.
const BlockBytes = 64 << 10

// WindowBlocks is the number of blocks of a window, within which records are shuffled:
// 16 MiB of text.
const WindowBlocks = 256

// Blocks has the number of records of each block of a data set. It takes two bytes per
// block, and eight more per 64 blocks.
type Blocks struct {
	counts []uint16
	before []int64 // records before each group of sumBlocks blocks, and in total
}

// sumBlocks is the number of blocks between two sums. A search for a record adds half of
// them on average.
const sumBlocks = 64

// NewBlocks returns the Blocks with the given numbers of records, which it keeps.
func NewBlocks(counts []uint16) *Blocks {
	s := &Blocks{counts: counts, before: make([]int64, 0, len(counts)/sumBlocks+2)}
	sum := int64(0)
	for i, n := range counts {
		if i%sumBlocks == 0 {
			s.before = append(s.before, sum)
		}
		sum += int64(n)
	}
	s.before = append(s.before, sum)
	return s
}

// Len returns the number of blocks.
func (b *Blocks) Len() int { return len(b.counts) }

// Records returns the number of records of all blocks.
func (b *Blocks) Records() int { return int(min(b.before[len(b.before)-1], math.MaxInt)) }

// Count returns the number of records of a block.
func (b *Blocks) Count(block int) int { return int(b.counts[block]) }

// First returns the number of records before a block. block may be Len.
func (b *Blocks) First(block int) int {
	at := block / sumBlocks
	sum := b.before[min(at, len(b.before)-1)]
	for _, n := range b.counts[min(at*sumBlocks, len(b.counts)):block] {
		sum += int64(n)
	}
	return int(sum)
}

// Find returns the block of a record and the record's index in it.
func (b *Blocks) Find(record int) (block, place int) {
	low, high := 0, len(b.before)-1 // before[low] <= record < before[high]
	for high-low > 1 {
		if mid := (low + high) / 2; b.before[mid] <= int64(record) {
			low = mid
		} else {
			high = mid
		}
	}
	place = record - int(b.before[low])
	for block = low * sumBlocks; place >= int(b.counts[block]); block++ {
		place -= int(b.counts[block])
	}
	return block, place
}
