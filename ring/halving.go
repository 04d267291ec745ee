package ring

import "ringtrain/ring/internal/vec"

// halving is recursive halving and then doubling: across each edge partners give
// each other one half of what they still have to sum, until each has its share of
// the sum; then they go back and collect the shares.
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

// kept is what this rank has to sum after an edge.
func (h *halving) kept(edge int) []float32 {
	s := h.plan.share(len(h.x), h.plan.corner(h.w.places.me), edge+1)
	return h.x[s.lo:s.hi]
}

// given is what the partner across an edge has to sum after it.
func (h *halving) given(edge int) []float32 {
	s := h.plan.share(len(h.x), h.plan.corner(h.w.places.me)^1<<edge, edge+1)
	return h.x[s.lo:s.hi]
}

func (h *halving) finish() error {
	r := (*rounds)(h)
	for edge := h.plan.edges() - 1; edge >= 0; edge-- {
		step := h.plan.back(h.plan.before() + edge)
		if err := r.send(step, bytesOf(h.kept(edge))); err != nil {
			return err
		}
		if _, err := r.take(step, bytesOf(h.given(edge))); err != nil {
			return err
		}
	}
	return nil
}
