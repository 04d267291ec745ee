package ring

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// TestBlocks verifies that the blocks of a span cover it without gaps.
func TestBlocks(t *testing.T) {
	for _, s := range []span{{0, 0}, {16, 17}, {32, 32 + blockElements}, {0, 3*blockElements + 1}} {
		at := s.lo
		for b := range s.blocks {
			if b.lo != at || b.len() > blockElements || b.len() <= 0 {
				t.Errorf("%v: block %v, want it from %d", s, b, at)
			}
			at = b.hi
		}
		if at != s.hi {
			t.Errorf("%v: blocks end at %d", s, at)
		}
	}
}

// TestBoardLayout verifies the layout of a board that PROTOCOL.md describes: workers with the
// same version of the protocol read each other's boards.
func TestBoardLayout(t *testing.T) {
	var b board
	var p exchangeBuffer
	got := fmt.Sprint(unsafe.Offsetof(p.length), unsafe.Offsetof(p.data), unsafe.Offsetof(p.tail), unsafe.Sizeof(p),
		unsafe.Offsetof(b.beat), unsafe.Offsetof(b.aborted), unsafe.Offsetof(b.why), unsafe.Offsetof(b.sum), unsafe.Sizeof(b))
	if want := "0 64 262208 262272 524544 524552 524608 525184 533376"; got != want {
		t.Errorf("board is laid out as %s, want %s", got, want)
	}
	memory := alignedFloats(boardElements(3))
	if _, tails := boardOf(memory); len(tails) != 3*TailBytes {
		t.Errorf("tails are %d bytes, want %d", len(tails), 3*TailBytes)
	}
}

// TestStrangeTerms verifies that the message about terms names both ranks, whatever lies in
// another worker's memory, and that each byte of the terms counts.
func TestStrangeTerms(t *testing.T) {
	mine := terms{kind: opBarrier}
	for _, theirs := range []terms{{kind: 200}, {kind: opBarrier, codec: 99}, {kind: opBarrier, arena: -7}, {kind: opBarrier, root: 1 << 31}} {
		if err := mine.difference(&theirs, 0, "rank 1"); !strings.Contains(err.Error(), "on rank 0, ") {
			t.Errorf("error %q, want one that names both ranks", err)
		}
	}
	same := terms{kind: opBarrier}
	for i := range unsafe.Sizeof(same) {
		other := same
		(*(*[unsafe.Sizeof(same)]byte)(unsafe.Pointer(&other)))[i] ^= 1
		if other == same && i < unsafe.Offsetof(same.tails)+1 {
			t.Errorf("byte %d of terms does not count", i)
		}
	}
}
