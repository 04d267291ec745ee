package ring

import "ringtrain/ring/internal/vec"

// fold collects the parts of all ranks, each a block of elements and tail, in
// the order of ranks, and sums them in that order: the same on all ranks.
type fold rounds

// blocks are those of the workers at some positions.
func (d *fold) blocks(s span) []byte {
	n := 4*len(d.x) + d.tail
	return bytesOf(d.in)[s.lo*n : s.hi*n]
}

func (d *fold) begin() {
	me := d.w.places.me
	own := d.blocks(span{me, me + 1})
	n := copy(own, bytesOf(d.x))
	copy(own[n:], d.tails[d.w.members.Rank*d.tail:]) // blocks end with the tail
}

func (d *fold) message(_ int, held span) []byte { return d.blocks(held) }

func (d *fold) room(_ int, theirs span) []byte { return d.blocks(theirs) }

func (d *fold) absorb(int, span, []byte) {}

func (d *fold) finish() error {
	n := 4 * len(d.x)
	for rank, at := range d.w.places.position {
		block := d.blocks(span{at, at + 1})
		if rank == 0 {
			copy(bytesOf(d.x), block)
		} else {
			vec.AddF32(d.x, block[:n])
		}
		if d.tails != nil {
			copy(d.tails[rank*d.tail:], block[n:])
		}
	}
	return nil
}
