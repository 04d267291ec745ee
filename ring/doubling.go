package ring

import "ringtrain/ring/internal/vec"

// doubling is recursive doubling. Across each edge partners exchange their sums so far, and both
// add them. The sum of the lower positions is the left operand, so that all ranks get the same
// bits, even of NaNs.
type doubling rounds

func (d *doubling) begin() {}

func (d *doubling) message(_ int, held span) []byte {
	return (*rounds)(d).joined(d.x, held)
}

func (d *doubling) room(_ int, theirs span) []byte {
	return (*rounds)(d).joinedRoom(len(d.x), theirs)
}

func (d *doubling) absorb(_ int, theirs span, got []byte) {
	(*rounds)(d).split(len(d.x), theirs, got)
	in := d.in[:len(d.x)]
	if theirs.lo > d.w.places.me {
		vec.Sum2(d.x, d.x, in)
	} else {
		vec.Sum2(d.x, in, d.x)
	}
}

func (d *doubling) finish() error { return nil }

// halving is recursive halving, then doubling. Across each edge partners give each other one half
// of the elements that they still sum, until each worker has the sum of its share. Then they go
// back across the edges and collect the shares.
type halving rounds

func (h *halving) begin() {}

func (h *halving) message(edge int, held span) []byte {
	return (*rounds)(h).joined(h.given(edge), held)
}

func (h *halving) room(edge int, theirs span) []byte {
	return (*rounds)(h).joinedRoom(len(h.kept(edge)), theirs)
}

func (h *halving) absorb(edge int, theirs span, got []byte) {
	kept := h.kept(edge)
	(*rounds)(h).split(len(kept), theirs, got)
	vec.Add(kept, h.in[:len(kept)])
}

// kept returns the elements that this worker still sums after an edge.
func (h *halving) kept(edge int) []float32 {
	s := h.plan.share(len(h.x), h.plan.corner(h.w.places.me), edge+1)
	return h.x[s.lo:s.hi]
}

// given returns the elements that the partner across an edge sums after it.
func (h *halving) given(edge int) []float32 {
	s := h.plan.share(len(h.x), h.plan.corner(h.w.places.me)^1<<edge, edge+1)
	return h.x[s.lo:s.hi]
}

func (h *halving) finish() error {
	r := (*rounds)(h)
	for edge := h.plan.edges() - 1; edge >= 0; edge-- {
		step := h.plan.back(h.plan.before() + edge)
		if err := r.send(step, vec.Bytes(h.kept(edge))); err != nil {
			return err
		}
		if _, err := r.receiveMessage(step, vec.Bytes(h.given(edge))); err != nil {
			return err
		}
	}
	return nil
}

// fold gathers the parts of all workers and sums them in the order of ranks. A part is a block of
// elements and a tail.
type fold rounds

// blocks returns the blocks of the workers at consecutive positions.
func (d *fold) blocks(s span) []byte {
	n := 4*len(d.x) + d.tail
	return vec.Bytes(d.in)[s.lo*n : s.hi*n]
}

func (d *fold) begin() {
	me := d.w.places.me
	own := d.blocks(span{me, me + 1})
	n := copy(own, vec.Bytes(d.x))
	copy(own[n:], d.tails[d.w.members.Rank*d.tail:])
}

func (d *fold) message(_ int, held span) []byte { return d.blocks(held) }

func (d *fold) room(_ int, theirs span) []byte { return d.blocks(theirs) }

func (d *fold) absorb(int, span, []byte) {}

func (d *fold) finish() error {
	n := 4 * len(d.x)
	for rank, at := range d.w.places.position {
		block := d.blocks(span{at, at + 1})
		if rank == 0 {
			copy(vec.Bytes(d.x), block)
		} else {
			vec.AddF32(d.x, block[:n])
		}
		if d.tails != nil {
			copy(d.tails[rank*d.tail:], block[n:])
		}
	}
	return nil
}

// tree sums up a binomial tree and passes the sum down again, over the links of recursive doubling.
// In each round the worker at the higher position sends its sum so far to its partner, and then
// waits for the total.
//
//	p = 6    0 ◄─ 1   2 ◄─ 3   4   5     round 0
//	         0 ◄────── 2       4 ◄ 5     round 1
//	         0 ◄────────────── 4         round 2, and all the way back
//
// The order of additions is that of doubling, so the bits are the same.
func (r *rounds) tree() error {
	me := r.w.places.me
	top := 0 // round in which this worker sends its sum up
	for ; top < r.plan.rounds(); top++ {
		partner := r.plan.partner(me, top)
		if partner < 0 {
			continue
		}
		if partner < me {
			if err := r.send(top, r.joined(r.x, r.plan.gathered(me, top))); err != nil {
				return err
			}
			if err := r.takeSum(r.plan.back(top)); err != nil {
				return err
			}
			break
		}
		theirs := r.plan.gathered(partner, top)
		got, err := r.receiveMessage(top, r.joinedRoom(len(r.x), theirs))
		if err != nil {
			return err
		}
		r.split(len(r.x), theirs, got)
		vec.AddF32(r.x, got[:4*len(r.x)])
	}
	for round := top - 1; round >= 0; round-- {
		if r.plan.partner(me, round) < 0 {
			continue
		}
		if err := r.send(r.plan.back(round), r.joined(r.x, r.all())); err != nil {
			return err
		}
	}
	return nil
}

// takeSum replaces the piece by the total, which a partner sends in a step.
func (r *rounds) takeSum(step int) error {
	got, err := r.receiveMessage(step, r.joinedRoom(len(r.x), r.all()))
	if err == nil {
		copy(vec.Bytes(r.x), r.split(len(r.x), r.all(), got))
	}
	return err
}
