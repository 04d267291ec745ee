package evaluate

import (
	"fmt"
	"math/bits"
)

// blockSums adds the tallies of the blocks of an evaluation. The order of the sums depends only on the
// number of blocks: by pairs, the pairs by pairs, and so on.
//
//	blocks  0   1   2   3   4   5   6
//	         ╲ ╱     ╲ ╱     ╲ ╱    │
//	          ╰───┬───╯       ╰──┬──╯
//	              ╰──────┬───────╯
//
// A rank adds the whole pairs in its run of blocks, which leaves at most 2·log₂ sums. The sums of all
// ranks then fold to the same bits at any world size.
type blockSums struct {
	next    int // number of the block after the added ones
	classes int // of the tallies
	nodes   []blockNode
}

// A blockNode is the sum of 2^level blocks.
type blockNode struct {
	level int
	tally tally
}

// reset empties s. The next block to add is first, of a model of so many classes.
func (s *blockSums) reset(first, classes int) { *s = blockSums{first, classes, s.nodes[:0]} }

// add adds the next 2^level blocks. Their first number is a multiple of 2^level.
func (s *blockSums) add(level int, t *tally) {
	s.nodes = append(s.nodes, blockNode{level, *t})
	s.next += 1 << level
	for n := len(s.nodes); n > 1; n-- {
		left, right := &s.nodes[n-2], &s.nodes[n-1]
		if left.level != right.level || s.next>>left.level&1 == 1 { // right is the first of a pair, or larger
			return
		}
		left.tally.merge(&right.tally)
		left.level++
		s.nodes = s.nodes[:n-1]
	}
}

// total returns the sum of all blocks from 0.
func (s *blockSums) total() (t tally) {
	for i := len(s.nodes) - 1; i >= 0; i-- {
		sum := s.nodes[i].tally
		sum.merge(&t)
		t = sum
	}
	return t
}

// encode appends the nodes in the form of a message: their number as int64, then the level of each node
// as int64 and its tally.
func (s *blockSums) encode(dst []byte) []byte {
	dst = appendInt(dst, int64(len(s.nodes)))
	for i := range s.nodes {
		dst = s.nodes[i].tally.encode(appendInt(dst, int64(s.nodes[i].level)))
	}
	return dst
}

// decode adds the nodes at the front of b, which must be the blocks up to last. It returns the rest of
// b.
func (s *blockSums) decode(b []byte, last int) (rest []byte, err error) {
	n, b, err := decodeInt(b)
	if err != nil {
		return nil, err
	}
	if each := blockNodeBytes + 8*s.classes; n < 0 || n > int64(len(b)/each) {
		return nil, fmt.Errorf("%d sums in %d bytes, want %d bytes for each", n, len(b), each)
	}
	for range n {
		var level int64
		if level, b, err = decodeInt(b); err != nil {
			return nil, err
		}
		if level < 0 || level > 62 || bits.TrailingZeros(uint(s.next)) < int(level) || s.next+1<<level > last {
			return nil, fmt.Errorf("the sum of 2^%d blocks from block %d, want whole pairs up to block %d", level, s.next, last)
		}
		var t tally
		b = t.decode(b, s.classes)
		s.add(int(level), &t)
	}
	if s.next != last {
		return nil, fmt.Errorf("sums up to block %d, want block %d", s.next, last)
	}
	return b, nil
}
