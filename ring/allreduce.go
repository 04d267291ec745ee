package ring

import (
	"context"

	"ringtrain/ring/codec"
	"ringtrain/ring/internal/vec"
)

// TailBytes is the length of each rank's part of Reduction.Tails.
const TailBytes = 64

// Reduction describes an all-reduce. The length of Buf, the codec and whether there are tails
// must be equal on all ranks.
type Reduction struct {
	Buf      []float32   // replaced by the sum, bit-identical on every rank
	Residual []float32   // nil, or of Buf's length: error feedback of a lossy codec
	Codec    codec.Codec // nil: none
	Tails    []byte      // nil, or Size()*TailBytes: this rank fills its own at [Rank*TailBytes:], AllReduce fills in the others'
}

func (r *Reduction) check(tails int) {
	if r.Residual != nil && len(r.Residual) != len(r.Buf) {
		panic("ring: residual is not of the buffer's length")
	}
	if r.Tails != nil && len(r.Tails) != tails {
		panic("ring: tails are not of size times TailBytes")
	}
}

// AllReduce replaces r.Buf on every rank by the sum of r.Buf over all ranks.
//
// The result is bit-identical on every rank, for every codec. The owner of a chunk encodes the
// chunk once. Every rank, including the owner, keeps the decoded values. The sum is computed in
// float32. Its order depends only on the world size, the order of the ring, the length of Buf,
// Config.Algorithm and, on two levels, the layout of hosts.
//
// Over links a small buffer takes an algorithm with fewer hops than the ring, see [Algorithm].
// Such a buffer travels as float32, and r.Residual is unchanged: latency bounds it, so fewer
// bytes gain nothing.
//
// On two levels the workers of a host sum in memory, in order of ranks. With several hosts the
// drivers then sum over the hosts as above, each for its shard and with its part of r.Residual.
// By ring they do so segment by segment: memory works while the wire does. With one host there
// is no wire, so the codec is unused and nothing is lost. A buffer in an arena of the group is
// summed in place. Any other buffer passes through the memory of the group in pieces of 256
// KiB.
//
// With a lossy codec r.Residual carries the rounding errors from one call to the next.
// AllReduce adds the residual before it encodes, and replaces it by input minus decoded. A rank
// encodes each element exactly once per call, so one residual per element suffices (idea: Seide
// et al., "1-bit stochastic gradient descent and its application to data-parallel distributed
// training of speech DNNs", 2014).
//
// By ring each of p ranks sends 2(p-1)/p · len(Buf) elements in 2(p-1) steps (Patarasuk and
// Yuan 2009). Tails travel with the frames of the first p-1 steps. AllReduce allocates nothing
// once its scratch memory has grown to the largest buffer: with a codec, one encoded chunk and
// a segment.
//
// AllReduce returns a *PeerError if an exchange fails; Buf, Residual and Tails are then
// undefined. At world size 1 it does nothing and uses no codec.
func (g *Group) AllReduce(ctx context.Context, r Reduction) (err error) {
	r.check(g.members.Size() * TailBytes)
	if err := g.begin(ctx, opAllReduce, len(r.Buf)); err != nil {
		return err
	}
	defer g.finish(&err)
	switch {
	case g.members.Size() == 1:
		return nil
	case g.host != nil:
		return g.host.allReduce(&g.op, r)
	default:
		return g.wire.allReduce(&g.op, r, nil)
	}
}

// An allReduce is the running all-reduce by ring. The fields of the first group belong to the
// goroutine that receives, those of the second group to the goroutine that sends. Both read the
// third group.
type allReduce struct {
	in     coding
	placed int // number of segments stored so far
	walked int // steps of all-gather reached so far
	freed  int // frames that this rank sent in as many steps of reduce-scatter

	out       coding
	own       []byte // the payload made last of this rank's own chunk
	sends     walk
	forwarded int // segments of the store sent so far

	at     places // of the wire
	plan   schedule
	r      Reduction
	stored store
	first  int         // frames sent before the first one that is passed on
	parts  [][]float32 // of the workers of this host, Buf the first; see wire.allReduce. nil: Buf is all there is
}

// set prepares a for r on w.
func (a *allReduce) set(w *wire, r Reduction, parts [][]float32) {
	m, c := w.members, w.config
	a.plan = schedule{size: m.Size(), length: len(r.Buf), segment: c.SegmentElements}
	if r.Tails != nil {
		a.plan.tail = w.tail
	}
	longest := min(chunkSpan(len(r.Buf), m.Size(), 0).len(), c.SegmentElements)
	a.in.set(r.Codec, c.Lossless, longest)
	a.out.set(r.Codec, c.Lossless, longest)
	if !a.in.lossy() {
		r.Residual = nil
	}
	a.r, a.parts, a.sends = r, parts, a.plan.walk(a.at.me)
	a.placed, a.walked, a.freed, a.forwarded = 0, 0, 0, 0
	a.first = a.plan.segments(a.plan.chunk(a.at.me, 0), 0)
	w.scratch = vec.Resize(w.scratch, a.in.encodedLen(longest)+a.plan.tail)
	room := a.in.room(longest) + a.plan.tail
	if !a.in.direct() || a.plan.tail > 0 {
		a.own = vec.Resize(a.own, room)
	}
	if !a.in.direct() {
		a.stored.set(a.plan.most()+1, room)
	}
}

// sendMode chooses who sends: eager if the whole and each frame are small, async if there is
// much to send and a core to spare, otherwise prompt.
func (a *allReduce) sendMode(spareCore bool) sendMode {
	switch chunk := a.in.encodedLen(chunkSpan(a.plan.length, a.plan.size, 0).len()) + a.plan.tail; {
	case a.plan.size*chunk > promptBytes && spareCore:
		return async
	case a.plan.most() == 1 && a.plan.length <= eagerBytes && chunk <= eagerBytes:
		return eager
	default:
		return prompt
	}
}

// run receives the frames of the left neighbour in order, and pushes each segment that goes on
// to the right neighbour.
func (a *allReduce) run(w *wire) error {
	me := a.at.me
	if err := w.push(a.plan.segments(a.plan.chunk(me, 0), 0)); err != nil {
		return err
	}
	in := a.plan.walk(mod(me-1, a.plan.size))
	for p, ok := in.next(); ok; p, ok = in.next() {
		var err error
		if p.step < a.plan.scatterSteps() {
			err = a.add(w, p)
		} else {
			err = a.place(w, p)
		}
		if err == nil && a.plan.passedOn(p) {
			err = w.push(1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add receives a partial sum in reduce-scatter and adds it. With a codec or a compressor it
// encodes the sum at once, while the sum is in the cache.
func (a *allReduce) add(w *wire, p part) error {
	if err := a.awaitRoom(w, p); err != nil {
		return err
	}
	f, err := w.receive(w.scratch, p.step)
	if err != nil {
		return err
	}
	dst := a.r.Buf[p.span.lo:p.span.hi]
	sumParts(dst, a.parts, p.span.lo, p.span.hi)
	n := len(f.Payload)
	if p.tail >= 0 {
		n -= a.plan.tail
	}
	err = a.in.check(f.Codec, len(dst), n)
	if err == nil && p.tail >= 0 {
		copy(a.tail(p), f.Payload[n:])
	}
	switch {
	case err != nil:
	case a.in.direct():
		vec.AddF32(dst, f.Payload[:n])
	case !a.plan.passedOn(p):
		err = a.in.decodeAdd(dst, f.Payload[:n], f.Codec)
	default:
		next := p
		next.step++
		s := a.stored.slot(a.placed)
		s.payload, s.codec, err = a.in.addEncode(s.room, f.Payload[:n], f.Codec, a.payloadSource(next))
		a.placed++
	}
	if err != nil {
		return w.fail(left, p.step, err)
	}
	if p.step == a.plan.scatterSteps()-1 {
		spreadParts(a.parts, p.span.lo, p.span.hi)
	}
	return nil
}

// payloadSource returns what this rank sends in p, up to the chunk that it owns.
func (a *allReduce) payloadSource(p part) payloadSource {
	own := a.plan.scatterSteps() // the step that sends the chunk owned
	l := payloadSource{x: a.r.Buf[p.span.lo:p.span.hi], keep: p.step == own}
	if a.r.Residual != nil {
		l.residual = a.r.Residual[p.span.lo:p.span.hi]
	}
	if p.tail >= 0 && p.step < own {
		l.tail = a.tail(p)
	}
	return l
}

// tail returns the memory of the tail that p carries.
func (a *allReduce) tail(p part) []byte {
	return a.r.Tails[a.at.worker[p.tail]*a.plan.tail:][:a.plan.tail]
}

// place receives a sum in all-gather and keeps its bytes if they go on to the right neighbour.
func (a *allReduce) place(w *wire, p part) error {
	if err := a.awaitFree(w, p); err != nil {
		return err
	}
	dst, into := a.r.Buf[p.span.lo:p.span.hi], w.scratch
	pass := a.plan.passedOn(p)
	var s *slot
	switch {
	case a.in.direct():
		into = vec.Bytes(dst)
	case pass:
		s = a.stored.slot(a.placed)
		into = s.room
	}
	f, err := w.receive(into, p.step)
	if err != nil {
		return err
	}
	if err = a.in.check(f.Codec, len(dst), len(f.Payload)); err == nil && !a.in.direct() {
		err = a.in.decode(dst, f.Payload, f.Codec)
	}
	if err != nil {
		return w.fail(left, p.step, err)
	}
	if s != nil {
		s.payload, s.codec = f.Payload, f.Codec
		a.placed++
	}
	spreadParts(a.parts, p.span.lo, p.span.hi)
	return nil
}

// awaitFree blocks until this rank has sent what p overwrites: the partial sum in Buf and the
// oldest stored segment. The neighbour mostly has it already, but the link may still use the
// memory.
func (a *allReduce) awaitFree(w *wire, p part) error {
	for ; a.walked <= p.step-a.plan.scatterSteps(); a.walked++ {
		a.freed += a.plan.segments(a.plan.chunk(a.at.me, a.walked), a.walked)
	}
	if err := w.awaitSent(a.freed, p.step); err != nil {
		return err
	}
	return a.awaitRoom(w, p)
}

// awaitRoom blocks until the store has room for p.
//
// Stores cannot deadlock the ring: a store holds one segment more than a chunk has. If the
// stores of all ranks were full, they would hold more segments than there are.
func (a *allReduce) awaitRoom(w *wire, p part) error {
	if a.in.direct() || !a.plan.passedOn(p) {
		return nil
	}
	return w.awaitSent(a.first+a.placed-a.stored.len()+1, p.step)
}

// fill makes the next frame to send.
func (a *allReduce) fill(f *Frame) int {
	p, ok := a.sends.next()
	if !ok {
		panic("ring: no frame left to send")
	}
	if p.step == 0 {
		sumParts(a.r.Buf[p.span.lo:p.span.hi], a.parts, p.span.lo, p.span.hi)
	}
	switch {
	case a.out.direct():
		l := a.payloadSource(p)
		f.Payload, f.Codec = vec.Bytes(l.x), 0
		if len(l.tail) > 0 {
			f.Payload = append(append(a.own[:0], f.Payload...), l.tail...) // a copy: other elements follow x in memory
		}
	case p.step == 0:
		f.Payload, f.Codec = a.out.encode(a.own, a.payloadSource(p))
	default:
		s := a.stored.slot(a.forwarded)
		a.forwarded++
		f.Payload, f.Codec = s.payload, s.codec
	}
	return p.step
}
