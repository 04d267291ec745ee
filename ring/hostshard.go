package ring

// reduceShard is a driver's work: it replaces the elements s of all parts by their
// sum over all hosts.
func (h *host) reduceShard(r Reduction, s span) error {
	for i, part := range h.parts {
		h.shard[i] = part[s.lo:s.hi]
	}
	if r.Residual != nil {
		r.Residual = r.Residual[s.lo:s.hi]
	}
	sum, all := h.shard[0], span{0, s.len()}
	if h.across.Algorithm(4*len(sum), r.Codec) == ByRing {
		return h.overlap(r, sum)
	}
	sumParts(h.shard, all)
	if err := h.reduceAcross(r, sum, r.Residual); err != nil {
		return err
	}
	spreadParts(h.shard, all)
	return nil
}

// overlap has the ring between hosts do the work in memory, a segment at a time:
// right before a segment is first sent or added to, its parts are summed, and once
// it is the sum over all hosts it is spread. So the wire carries one segment while
// memory works on the next, a segment is in the cache when it is sent, and no
// goroutine is added. Each element is first sent or added to once, and what it is
// then does not depend on when.
func (h *host) overlap(r Reduction, sum []float32) error {
	ring := &h.across.reduce
	ring.parts = h.shard
	err := h.reduceAcross(r, sum, r.Residual)
	ring.parts = nil
	return err
}

// sumParts has the elements s of the first part become the sum of all.
func sumParts(parts [][]float32, s span) {
	if len(parts) < 2 {
		return
	}
	for b := range s.blocks {
		sumInto(parts[0][b.lo:b.hi], parts, b)
	}
}

// spreadParts copies the elements s of the first part to all others.
func spreadParts(parts [][]float32, s span) {
	if len(parts) < 2 {
		return
	}
	for b := range s.blocks {
		for _, part := range parts[1:] {
			copy(part[b.lo:b.hi], parts[0][b.lo:b.hi])
		}
	}
}
