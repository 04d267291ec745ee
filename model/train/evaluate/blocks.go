package evaluate

import (
	"fmt"
	"math/bits"
)

// blockSums adds the tallies of the blocks of an evaluation in an order that depends on
// nothing but their number: by pairs, the pairs by pairs, and so on.
//
//	blocks  0   1   2   3   4   5   6
//	         ╲ ╱     ╲ ╱     ╲ ╱    │
//	          ╰───┬───╯       ╰──┬──╯
//	              ╰──────┬───────╯
//
// So a rank adds its run of blocks as far as whole pairs lie in it, at most 2·log₂ of them
// remain, and the ranks' remains fold to the same bits at any world size.
type blockSums struct {
	next  int // the block behind those that were added
	nodes []blockNode
}

// A blockNode is the sum of 2^level blocks.
type blockNode struct {
	level int
	tally tally
}

// reset empties s; the next block that is added is the one given.
func (s *blockSums) reset(first int) { *s = blockSums{next: first, nodes: s.nodes[:0]} }

// add adds the next 2^level blocks, which begin at a multiple of their number.
func (s *blockSums) add(level int, t *tally) {
	s.nodes = append(s.nodes, blockNode{level, *t})
	s.next += 1 << level
	for n := len(s.nodes); n > 1; n-- {
		left, right := &s.nodes[n-2], &s.nodes[n-1]
		if left.level != right.level || s.next>>left.level&1 == 1 { // right begins a pair, or is larger
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

// append appends the nodes as a rank sends them: their number as int64, then each node's level
// as int64 and its tally.
func (s *blockSums) encode(dst []byte) []byte {
	dst = appendInt(dst, int64(len(s.nodes)))
	for i := range s.nodes {
		dst = s.nodes[i].tally.encode(appendInt(dst, int64(s.nodes[i].level)))
	}
	return dst
}

// take adds the nodes of a rank off the front of b, which must be the blocks up to last.
func (s *blockSums) decode(b []byte, last int) (rest []byte, err error) {
	n, b, err := decodeInt(b)
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(len(b)/blockNodeBytes) {
		return nil, fmt.Errorf("%d sums in %d bytes, want %d bytes for each", n, len(b), blockNodeBytes)
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
		b = t.decode(b)
		s.add(int(level), &t)
	}
	if s.next != last {
		return nil, fmt.Errorf("sums up to block %d, want block %d", s.next, last)
	}
	return b, nil
}
