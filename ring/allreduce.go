package ring

import (
	"context"

	"ringtrain/ring/codec"
)

// TailBytes is the length of each rank's part of Reduction.Tails.
const TailBytes = 64

// Reduction is what an all-reduce works on. Buf's length, the codec and whether
// there are tails must be the same on all ranks.
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

// AllReduce replaces r.Buf, on every rank, by the sum of all ranks' r.Buf.
//
// The result is bit-identical on every rank, whatever the codec: the owner of a
// chunk encodes it once, and every rank, the owner included, keeps the values
// that those bytes decode to. Sums run in float32, in an order that depends on
// the world size, the order of the ring, the length of Buf and Config.Algorithm
// only.
//
// Over links, small buffers go by an algorithm that takes fewer hops than the
// ring, see [Algorithm]. Then float32 travels, whatever the codec, and r.Residual
// stays as it is: a codec is an allowance, and what is bound by latency gains
// nothing by fewer bytes.
//
// On two levels the workers of a host sum in memory, in order of ranks; where
// there are other hosts the drivers sum over these, as above, each for its shard
// and with its part of r.Residual: by ring a segment at a time, so that memory
// works while the wire does. The order of additions depends on the
// layout of hosts too. With one host there is no wire: a codec is unused, and
// nothing is lost. What lies in an arena of the group is summed where it lies;
// any other buffer goes through the group's own memory, in pieces of 256 KiB.
//
// With a lossy codec, r.Residual carries what the codec lost from one call to
// the next: it is added before encoding, and replaced by input minus decoded.
// Every element is encoded exactly once per call and rank, so one residual each
// suffices (Seide et al., "1-bit stochastic gradient descent and its
// application to data-parallel distributed training of speech DNNs", 2014, for
// the idea).
//
// By ring, AllReduce sends 2(p-1)/p · len(Buf) elements in 2(p-1) steps for p
// ranks (Patarasuk and Yuan 2009). Tails travel along in the first p-1 steps
// and cost no frames of their own. It allocates nothing once its scratch has
// grown to the largest buffer: with a codec, one encoded chunk and a segment.
//
// It returns a *PeerError if an exchange fails; Buf, Residual and Tails then
// hold no meaningful values. At world size 1 it does nothing, and uses no codec.
func (g *Group) AllReduce(ctx context.Context, r Reduction) error {
	r.check(g.members.Size() * TailBytes)
	if err := g.begin(ctx, opAllReduce, len(r.Buf)); err != nil {
		return err
	}
	defer g.finish()
	switch {
	case g.members.Size() == 1:
		return nil
	case g.host != nil:
		return g.host.allReduce(r)
	default:
		return g.wire.allReduce(ctx, r, nil)
	}
}

// An allReduce is the running all-reduce. The fields of the first group belong
// to the goroutine that receives, those of the second to the one that sends;
// both read the third.
type allReduce struct {
	in     coding
	placed int // segments stored so far
	walked int // steps of all-gather reached so far
	freed  int // frames that this rank sent in as many steps of reduce-scatter

	out       coding
	own       []byte // the payload made last of this rank's own chunk
	sends     walk
	forwarded int // segments of the store sent so far

	w      *wire
	plan   schedule
	r      Reduction
	stored store
	first  int         // frames sent before the first one that is passed on
	parts  [][]float32 // of the workers of this host, Buf the first; see wire.allReduce. nil: Buf is all there is
}

func (a *allReduce) set(r Reduction, parts [][]float32) {
	m, c := a.w.members, a.w.config
	a.plan = schedule{size: m.Size(), length: len(r.Buf), segment: c.SegmentElements}
	if r.Tails != nil {
		a.plan.tail = a.w.tail
	}
	longest := min(chunkSpan(len(r.Buf), m.Size(), 0).len(), c.SegmentElements)
	a.in.set(r.Codec, c.Lossless, longest)
	a.out.set(r.Codec, c.Lossless, longest)
	if !a.in.lossy() {
		r.Residual = nil
	}
	a.r, a.parts, a.sends = r, parts, a.plan.walk(a.w.places.me)
	a.placed, a.walked, a.freed, a.forwarded = 0, 0, 0, 0
	a.first = a.plan.segments(a.plan.chunk(a.w.places.me, 0), 0)
	a.w.scratch = grow(a.w.scratch, a.in.encodedLen(longest)+a.plan.tail)
	room := a.in.room(longest) + a.plan.tail
	if !a.in.direct() || a.plan.tail > 0 {
		a.own = grow(a.own, room)
	}
	if !a.in.direct() {
		a.stored.set(a.plan.most()+1, room)
	}
}

// sendMode tells who sends. It is eager where the whole is small, and so is each frame, and
// async where there is much to send and a core to spare for that.
func (a *allReduce) sendMode() sendMode {
	switch chunk := a.in.encodedLen(chunkSpan(a.plan.length, a.plan.size, 0).len()) + a.plan.tail; {
	case a.plan.size*chunk > promptBytes && a.w.x.spareCore:
		return async
	case a.plan.most() == 1 && a.plan.length <= eagerBytes && chunk <= eagerBytes:
		return eager
	default:
		return prompt
	}
}

// run receives what the left neighbour sends, in order. What is to go on to the
// right goes on at once.
func (a *allReduce) run() error {
	me := a.w.places.me
	if err := a.w.x.push(a.plan.segments(a.plan.chunk(me, 0), 0)); err != nil {
		return err
	}
	in := a.plan.walk(mod(me-1, a.plan.size))
	for p, ok := in.next(); ok; p, ok = in.next() {
		var err error
		if p.step < a.plan.scatterSteps() {
			err = a.add(p)
		} else {
			err = a.place(p)
		}
		if err == nil && a.plan.passedOn(p) {
			err = a.w.x.push(1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add receives a partial sum, in reduce-scatter, and adds it. With a codec or a
// compressor it makes the payload of the sum at once, while that is in the cache.
func (a *allReduce) add(p part) error {
	if err := a.awaitRoom(p); err != nil {
		return err
	}
	f, err := a.w.x.receive(&a.w.x.ring, a.w.scratch, p.step)
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
	case a.in.direct() || !a.plan.passedOn(p):
		err = a.in.decodeAdd(dst, f.Payload[:n], f.Codec)
	default:
		next := p
		next.step++
		s := a.stored.slot(a.placed)
		s.payload, s.codec, err = a.in.addEncode(s.room, f.Payload[:n], f.Codec, a.payloadSource(next))
		a.placed++
	}
	if err != nil {
		return a.w.fail(left, p.step, err)
	}
	if p.step == a.plan.scatterSteps()-1 {
		spreadParts(a.parts, p.span.lo, p.span.hi)
	}
	return nil
}

// payloadSource is what this rank sends in p, up to the chunk that it owns.
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

// tail is where the tail that p carries lies.
func (a *allReduce) tail(p part) []byte {
	return a.r.Tails[a.w.places.worker[p.tail]*a.plan.tail:][:a.plan.tail]
}

// place receives a sum, in all-gather, and keeps its bytes where they are to be
// passed on.
func (a *allReduce) place(p part) error {
	if err := a.awaitFree(p); err != nil {
		return err
	}
	dst, into := a.r.Buf[p.span.lo:p.span.hi], a.w.scratch
	pass := a.plan.passedOn(p)
	var s *slot
	switch {
	case a.in.direct():
		into = bytesOf(dst)
	case pass:
		s = a.stored.slot(a.placed)
		into = s.room
	}
	f, err := a.w.x.receive(&a.w.x.ring, into, p.step)
	if err != nil {
		return err
	}
	if err = a.in.check(f.Codec, len(dst), len(f.Payload)); err == nil && !a.in.direct() {
		err = a.in.decode(dst, f.Payload, f.Codec)
	}
	if err != nil {
		return a.w.fail(left, p.step, err)
	}
	if s != nil {
		s.payload, s.codec = f.Payload, f.Codec
		a.placed++
	}
	spreadParts(a.parts, p.span.lo, p.span.hi)
	return nil
}

// awaitFree blocks until this rank has sent what p overwrites: the partial sum
// in Buf, and the oldest stored segment. That the neighbour has it already, as
// it mostly does, does not mean that the link is done with it.
func (a *allReduce) awaitFree(p part) error {
	for ; a.walked <= p.step-a.plan.scatterSteps(); a.walked++ {
		a.freed += a.plan.segments(a.plan.chunk(a.w.places.me, a.walked), a.walked)
	}
	if err := a.w.x.awaitSent(a.freed, p.step); err != nil {
		return err
	}
	return a.awaitRoom(p)
}

// awaitRoom blocks until the store has room for p.
//
// The store cannot be the end of a ring of waits: it holds a segment more than
// a chunk has, so if all ranks' stores were full they would hold more segments
// than there are.
func (a *allReduce) awaitRoom(p part) error {
	if a.in.direct() || !a.plan.passedOn(p) {
		return nil
	}
	return a.w.x.awaitSent(a.first+a.placed-a.stored.len()+1, p.step)
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
		f.Payload, f.Codec = bytesOf(l.x), 0
		if len(l.tail) > 0 {
			f.Payload = append(append(a.own[:0], f.Payload...), l.tail...) // behind x lie other elements
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
