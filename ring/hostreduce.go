package ring

import "ringtrain/ring/internal/vec"

// blockElements is what a worker sums at a time, so that a block of the sum
// stays in the first cache while all workers' parts are added to it.
const blockElements = 2048

// allReduce does an all-reduce of this host's workers and, if there are other
// hosts, of those.
func (h *host) allReduce(r Reduction) error {
	n := h.g.notice()
	n.length = uint64(len(r.Buf))
	if r.Codec != nil {
		n.codec = r.Codec.ID()
	}
	if r.Tails != nil {
		n.tails = 1
	}
	if len(r.Buf) <= smallElements {
		return h.reduceSmall(r, n)
	}
	number, offset := h.find(r.Buf)
	if number < 0 {
		return h.reduceStaged(r, n)
	}
	n.arena, n.offset = int32(number), uint64(offset)
	if err := h.begin(r, n); err != nil {
		return err
	}
	for i, part := range h.arenas[number] {
		h.parts[i] = part[offset : offset+len(r.Buf)]
	}
	return h.reduceParts(r)
}

// reduceStaged sums a buffer that lies in no arena: in pieces, by way of the
// workers' pages.
func (h *host) reduceStaged(r Reduction, n notice) error {
	rest := r
	for len(rest.Buf) > 0 {
		piece := rest
		piece.Buf = rest.Buf[:min(pageElements, len(rest.Buf))]
		copy(h.page().data[:], piece.Buf)
		if err := h.begin(piece, n); err != nil {
			return err
		}
		h.viewPages(len(piece.Buf))
		if err := h.reduceParts(piece); err != nil {
			return err
		}
		copy(piece.Buf, h.parts[h.local])
		rest.Buf, rest.Tails = rest.Buf[len(piece.Buf):], nil
		if r.Residual != nil {
			rest.Residual = rest.Residual[len(piece.Buf):]
		}
	}
	return nil
}

// reduceSmall sums a buffer that every worker copies: on one host each worker
// sums for itself, on several the first one of each for all.
func (h *host) reduceSmall(r Reduction, n notice) error {
	if len(r.Buf) <= slipElements && h.drivers == 0 {
		return h.reduceSlips(r, n)
	}
	copy(h.page().data[:], r.Buf)
	if err := h.begin(r, n); err != nil {
		return err
	}
	h.viewPages(len(r.Buf))
	if h.drivers == 0 {
		sumInto(r.Buf, h.parts, span{0, len(r.Buf)})
		return nil
	}
	sum := h.boards[0].sum[:len(r.Buf)]
	if h.local == 0 {
		sumInto(sum, h.parts, span{0, len(sum)})
		if err := h.reduceAcross(r, sum, r.Residual); err != nil {
			return err
		}
	}
	if err := h.sync(); err != nil {
		return err
	}
	copy(r.Buf, sum)
	copy(r.Tails, h.tails)
	return nil
}

// reduceSlips sums a buffer that goes on the workers' slips, on one host.
func (h *host) reduceSlips(r Reduction, n notice) error {
	copy(h.slip.data[:], r.Buf)
	if err := h.begin(r, n); err != nil {
		return err
	}
	sum := h.slips[0].data
	for i := range h.slips[1:] {
		for j, v := range h.slips[1+i].data {
			sum[j] += v
		}
	}
	copy(r.Buf, sum[:])
	return nil
}

// begin is the meeting of an all-reduce, which carries this worker's tail. On one
// host it brings all tails.
func (h *host) begin(r Reduction, n notice) error {
	if r.Tails != nil {
		copy(h.page().tail[:], r.Tails[h.g.members.Rank*TailBytes:])
	}
	if err := h.meet(n); err != nil {
		return err
	}
	if r.Tails != nil && h.drivers == 0 {
		for rank := range h.boards {
			copy(r.Tails[rank*TailBytes:], h.posted(rank).tail[:])
		}
	}
	return nil
}

// viewPages makes what the workers have on their pages the parts to sum.
func (h *host) viewPages(n int) {
	for i := range h.parts {
		h.parts[i] = h.posted(i).data[:n]
	}
}

// reduceParts replaces all parts by their sum. Each worker sums one shard over
// all parts and writes the sum into all of them; where there are several hosts,
// each driver does, and sums its shard over the hosts.
func (h *host) reduceParts(r Reduction) error {
	n := len(r.Buf)
	switch {
	case h.drivers == 0:
		s := shardSpan(n, len(h.parts), h.local)
		for b := range s.blocks {
			sumParts(h.parts, b)
			spreadParts(h.parts, b)
		}
		return h.sync()
	case h.across != nil:
		if err := h.reduceShard(r, shardSpan(n, h.drivers, h.local)); err != nil {
			return err
		}
	}
	if err := h.sync(); err != nil {
		return err
	}
	copy(r.Tails, h.tails)
	return nil
}

// reduceAcross sums what this driver has of its host over all hosts. The first
// driver's tails are those of all its host's workers.
func (h *host) reduceAcross(r Reduction, sum, residual []float32) error {
	shard := Reduction{Buf: sum, Residual: residual, Codec: r.Codec}
	if r.Tails != nil && h.local == 0 {
		shard.Tails = h.packed
		own := h.packed[h.home*h.across.tail:]
		for i := range h.boards {
			copy(own[i*TailBytes:], h.posted(i).tail[:])
		}
	}
	h.g.waitFor(outside, h.step)
	if err := h.across.AllReduce(h.g.op.ctx, shard); err != nil {
		return h.g.end(h.g.peerError(outside, h.step, err))
	}
	h.g.waitFor(nobody, h.step)
	if shard.Tails != nil {
		h.unpackTails()
	}
	return nil
}

// unpackTails puts what came from all hosts in order of ranks.
func (h *host) unpackTails() {
	for i, ranks := range h.hosts {
		theirs := h.packed[i*h.across.tail:]
		for j, rank := range ranks {
			copy(h.tails[rank*TailBytes:], theirs[j*TailBytes:][:TailBytes])
		}
	}
}

// sumInto replaces dst by the sum of the elements s of all parts, in their order.
// It may be those of the first part.
func sumInto(dst []float32, parts [][]float32, s span) {
	if len(parts) == 1 {
		copy(dst, parts[0][s.lo:s.hi])
		return
	}
	vec.Sum2(dst, parts[0][s.lo:s.hi], parts[1][s.lo:s.hi])
	for _, part := range parts[2:] {
		vec.Add(dst, part[s.lo:s.hi])
	}
}

// blocks yields the parts of s that are worked on one after the other.
func (s span) blocks(yield func(span) bool) {
	for lo := s.lo; lo < s.hi; lo += blockElements {
		if !yield(span{lo, min(lo+blockElements, s.hi)}) {
			return
		}
	}
}
