package ring

import "ringtrain/ring/internal/vec"

// doubling is recursive doubling. Across each edge partners exchange their sums so far, and both
// add them. The sum of the lower positions is the left operand, so that all ranks get the same
// bits, even of NaNs.
type doubling rounds

func (d *doubling) message(_ int, held span) []byte {
	return (*rounds)(d).joined(d.x, held)
}

func (d *doubling) room(_ int, theirs span) []byte {
	return (*rounds)(d).joinedRoom(len(d.x), theirs)
}

func (d *doubling) absorb(_ int, theirs span, got []byte) {
	(*rounds)(d).split(len(d.x), theirs, got)
	in := d.in[:len(d.x)]
	if theirs.lo > d.at.me {
		vec.Sum2(d.x, d.x, in)
	} else {
		vec.Sum2(d.x, in, d.x)
	}
}

func (d *doubling) finish(*wire) error { return nil }

// halving is recursive halving, then doubling. Across each edge partners give each other one half
// of the elements that they still sum, until each worker has the sum of its share. Then they go
// back across the edges and collect the shares.
type halving rounds

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
	s := h.plan.share(len(h.x), h.plan.corner(h.at.me), edge+1)
	return h.x[s.lo:s.hi]
}

// given returns the elements that the partner across an edge sums after it.
func (h *halving) given(edge int) []float32 {
	s := h.plan.share(len(h.x), h.plan.corner(h.at.me)^1<<edge, edge+1)
	return h.x[s.lo:s.hi]
}

func (h *halving) finish(w *wire) error {
	r := (*rounds)(h)
	for edge := h.plan.edges() - 1; edge >= 0; edge-- {
		step := h.plan.back(h.plan.before() + edge)
		if err := r.send(w, step, vec.Bytes(h.kept(edge))); err != nil {
			return err
		}
		if _, err := r.receiveMessage(w, step, vec.Bytes(h.given(edge))); err != nil {
			return err
		}
	}
	return nil
}

// takeSum replaces the piece by the total, which a partner sends in a step.
func (r *rounds) takeSum(w *wire, step int) error {
	got, err := r.receiveMessage(w, step, r.joinedRoom(len(r.x), r.all()))
	if err == nil {
		copy(vec.Bytes(r.x), r.split(len(r.x), r.all(), got))
	}
	return err
}
