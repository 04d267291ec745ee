package ring

import (
	"ringtrain/ring/internal/vec"
)

// allReduce sums r over the workers of this host and, if there are other hosts, over those.
func (h *host) allReduce(op *operation, r Reduction) error {
	t := r.terms(ByRing)
	t.seq, t.kind, t.arena = op.seq, op.kind, -1
	if len(r.Buf) <= smallElements {
		return h.reduceSmall(op, r, t)
	}
	number, offset := h.find(r.Buf)
	if number < 0 {
		return h.reduceStaged(op, r, t)
	}
	t.arena, t.offset = int32(number), uint64(offset)
	if err := h.begin(op, r, t); err != nil {
		return err
	}
	for i, part := range h.arenas[number] {
		h.parts[i] = part[offset : offset+len(r.Buf)]
	}
	return h.reduceParts(op, r)
}

// reduceStaged sums a buffer that lies in no arena, in pieces that it copies to the exchange
// buffers.
func (h *host) reduceStaged(op *operation, r Reduction, t terms) error {
	rest := r
	for len(rest.Buf) > 0 {
		piece := rest
		piece.Buf = rest.Buf[:min(exchangeElements, len(rest.Buf))]
		copy(h.ownBuffer().data[:], piece.Buf)
		if err := h.begin(op, piece, t); err != nil {
			return err
		}
		h.viewBuffers(len(piece.Buf))
		if err := h.reduceParts(op, piece); err != nil {
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

// reduceSmall sums a buffer that every worker copies. On one host each worker adds for itself;
// on several hosts the first worker of each host adds for all.
func (h *host) reduceSmall(op *operation, r Reduction, t terms) error {
	if len(r.Buf) <= payloadElements && h.drivers == 0 {
		return h.reducePayloads(op, r, t)
	}
	copy(h.ownBuffer().data[:], r.Buf)
	if err := h.begin(op, r, t); err != nil {
		return err
	}
	h.viewBuffers(len(r.Buf))
	if h.drivers == 0 {
		sumParts(r.Buf, h.parts, 0, len(r.Buf))
		return nil
	}
	sum := h.boards[0].sum[:len(r.Buf)]
	if h.local == 0 {
		sumParts(sum, h.parts, 0, len(sum))
		shard := r
		shard.Buf = sum
		h.packTails(&shard)
		if err := h.across.allReduce(op, shard, nil); err != nil {
			return err
		}
		h.unpackTails(shard.Tails)
	}
	if err := h.sync(op); err != nil {
		return err
	}
	copy(r.Buf, sum)
	copy(r.Tails, h.tails)
	return nil
}

// reducePayloads sums a buffer that fits into the payloads of the barrier, on one host.
func (h *host) reducePayloads(op *operation, r Reduction, t terms) error {
	copy(h.payload.data[:], r.Buf)
	if err := h.begin(op, r, t); err != nil {
		return err
	}
	sum := h.payloads[0].data
	for i := range h.payloads[1:] {
		for j, v := range h.payloads[1+i].data {
			sum[j] += v
		}
	}
	copy(r.Buf, sum[:])
	return nil
}

// begin agrees on an all-reduce and gives this worker's tail to the others. On one host it also
// returns all tails in r.
func (h *host) begin(op *operation, r Reduction, t terms) error {
	if r.Tails != nil {
		copy(h.ownBuffer().tail[:], r.Tails[h.members.Rank*TailBytes:])
	}
	if err := h.agree(op, t); err != nil {
		return err
	}
	if r.Tails != nil && h.drivers == 0 {
		for rank := range h.boards {
			copy(r.Tails[rank*TailBytes:], h.bufferOf(rank).tail[:])
		}
	}
	return nil
}

// viewBuffers takes the first n elements of the exchange buffers as the parts to sum.
func (h *host) viewBuffers(n int) {
	for i := range h.parts {
		h.parts[i] = h.bufferOf(i).data[:n]
	}
}

// reduceParts replaces all parts by their sum. On one host each worker sums one shard over all
// parts and writes the sum into all of them. On several hosts each driver does so for its
// shard, over all hosts.
func (h *host) reduceParts(op *operation, r Reduction) error {
	n := len(r.Buf)
	switch {
	case h.drivers == 0:
		s := shardSpan(n, len(h.parts), h.local)
		for b := range s.blocks {
			sumParts(h.parts[0][b.lo:b.hi], h.parts, b.lo, b.hi)
			spreadParts(h.parts, b.lo, b.hi)
		}
		return h.sync(op)
	case h.across != nil:
		shard, parts := h.cutShard(r)
		if err := h.across.allReduce(op, shard, parts); err != nil {
			return err
		}
		h.unpackTails(shard.Tails)
	}
	if err := h.sync(op); err != nil {
		return err
	}
	copy(r.Tails, h.tails)
	return nil
}

// cutShard returns this driver's shard of r and of all parts, with the tails that it carries.
func (h *host) cutShard(r Reduction) (shard Reduction, parts [][]float32) {
	h.packTails(&r)
	s := shardSpan(len(r.Buf), h.drivers, h.local)
	for i, part := range h.parts {
		h.shard[i] = part[s.lo:s.hi]
	}
	if r.Residual != nil {
		r.Residual = r.Residual[s.lo:s.hi]
	}
	r.Buf = h.shard[0]
	if len(h.shard) == 1 {
		return r, nil
	}
	return r, h.shard
}

// packTails makes the tails of r those that the wire between hosts carries: on the first driver
// those of all workers of this host, in their place among those of all hosts, elsewhere none.
func (h *host) packTails(r *Reduction) {
	if r.Tails == nil || h.local != 0 {
		r.Tails = nil
		return
	}
	r.Tails = h.packed
	own := h.packed[h.hostIndex*h.across.tail:]
	for i := range h.boards {
		copy(own[i*TailBytes:], h.bufferOf(i).tail[:])
	}
}

// unpackTails copies the tails of all hosts, if there are any, to h.tails, in order of ranks.
func (h *host) unpackTails(packed []byte) {
	if packed == nil {
		return
	}
	for i, ranks := range h.hosts {
		theirs := packed[i*h.across.tail:]
		for j, rank := range ranks {
			copy(h.tails[rank*TailBytes:], theirs[j*TailBytes:][:TailBytes])
		}
	}
}

// blockElements is how many elements a worker sums at a time. A block of the sum then stays in
// the first-level cache while all parts are added to it.
const blockElements = 2048

// sumParts replaces dst by the sum of the elements [lo, hi) of all parts. The parts stand by
// local rank, so the sum is in order of ranks (see HostRanks). dst may be those elements of the
// first part. Without parts it does nothing: dst is the sum already.
func sumParts(dst []float32, parts [][]float32, lo, hi int) {
	if len(parts) == 0 {
		return
	}
	for ; lo < hi; lo += blockElements {
		end := min(lo+blockElements, hi)
		block := dst[:end-lo]
		dst = dst[end-lo:]
		if len(parts) == 1 {
			copy(block, parts[0][lo:end])
			continue
		}
		vec.Sum2(block, parts[0][lo:end], parts[1][lo:end])
		for _, part := range parts[2:] {
			vec.Add(block, part[lo:end])
		}
	}
}

// spreadParts copies the elements [lo, hi) of the first part to all others.
func spreadParts(parts [][]float32, lo, hi int) {
	if len(parts) < 2 {
		return
	}
	for ; lo < hi; lo += blockElements {
		end := min(lo+blockElements, hi)
		for _, part := range parts[1:] {
			copy(part[lo:end], parts[0][lo:end])
		}
	}
}

// blocks yields the blocks of s, one after the other.
func (s span) blocks(yield func(span) bool) {
	for lo := s.lo; lo < s.hi; lo += blockElements {
		if !yield(span{lo, min(lo+blockElements, s.hi)}) {
			return
		}
	}
}
