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

func (r *Reduction) check(size int) {
	if r.Residual != nil && len(r.Residual) != len(r.Buf) {
		panic("ring: residual is not of the buffer's length")
	}
	if r.Tails != nil && len(r.Tails) != size*TailBytes {
		panic("ring: tails are not of size times TailBytes")
	}
}

// AllReduce replaces r.Buf, on every rank, by the sum of all ranks' r.Buf.
//
// The result is bit-identical on every rank, whatever the codec: the owner of a
// chunk encodes it once, and every rank, the owner included, keeps the values
// that those bytes decode to. Sums run in float32, in an order that depends on
// the world size and the length of Buf only.
//
// With a lossy codec, r.Residual carries what the codec lost from one call to
// the next: it is added before encoding, and replaced by input minus decoded.
// Every element is encoded exactly once per call and rank, so one residual each
// suffices (Seide et al., "1-bit stochastic gradient descent and its
// application to data-parallel distributed training of speech DNNs", 2014, for
// the idea; DESIGN.md for this form).
//
// On each rank AllReduce sends 2(p-1)/p · len(Buf) elements in 2(p-1) steps for
// p ranks (Patarasuk and Yuan 2009). Tails travel along in the first p-1 steps
// and cost no frames of their own. It allocates nothing once its scratch has
// grown to the largest buffer: with a codec, one encoded chunk and a segment.
//
// It returns a *PeerError if an exchange fails; Buf, Residual and Tails then
// hold no meaningful values. At world size 1 it does nothing, and uses no codec.
func (g *Group) AllReduce(ctx context.Context, r Reduction) error {
	r.check(g.members.Size())
	if err := g.begin(ctx, opAllReduce); err != nil {
		return err
	}
	defer g.finish()
	if g.members.Size() == 1 {
		return nil
	}
	return g.allReduceFlat(ctx, r)
}

// allReduceFlat does an all-reduce over links.
func (g *Group) allReduceFlat(ctx context.Context, r Reduction) error {
	a := &g.reduce
	a.set(r)
	g.x.start(ctx, a, a.eager())
	err := g.x.finish(a.run())
	a.r = Reduction{}
	return err
}

// An allReduce is the running all-reduce. The fields of the first group belong
// to the goroutine that receives, those of the second to the one that sends;
// both read the third.
type allReduce struct {
	in     coding
	placed int // all-gather frames that are to be passed on
	walked int // steps of all-gather reached so far
	freed  int // frames that this rank sent in as many steps of reduce-scatter

	out       coding
	sends     walk
	forwarded int

	g      *Group
	plan   schedule
	r      Reduction
	stored store
	first  int // frames sent before the first one that is passed on
}

func (a *allReduce) set(r Reduction) {
	m, c := a.g.members, a.g.config
	a.plan = schedule{size: m.Size(), length: len(r.Buf), segment: c.SegmentElements, tails: r.Tails != nil}
	longest := min(chunkSpan(len(r.Buf), m.Size(), 0).len(), c.SegmentElements)
	a.in.set(r.Codec, c.Lossless, longest)
	a.out.set(r.Codec, c.Lossless, longest)
	if !a.in.lossy() {
		r.Residual = nil
	}
	a.r, a.sends = r, a.plan.walk(m.Rank)
	a.placed, a.walked, a.freed, a.forwarded, a.first = 0, 0, 0, 0, 0
	for step := range a.plan.scatterSteps() + 1 {
		a.first += a.plan.segments(a.plan.chunk(m.Rank, step), step)
	}
	a.g.scratch = grow(a.g.scratch, a.in.encodedLen(longest)+TailBytes)
	if !a.in.direct() && m.Size() > 2 {
		a.stored.set(a.plan.most()+1, a.in.encodedLen(longest))
	}
}

// eager tells whether the caller's goroutine sends: the whole is small, and so
// is each frame.
func (a *allReduce) eager() bool {
	return a.plan.most() <= 1 && 4*a.plan.length <= 4*eagerBytes &&
		a.in.encodedLen(chunkSpan(a.plan.length, a.plan.size, 0).len())+TailBytes <= eagerBytes
}

// run receives what the left neighbour sends, in order. What is to go on to the
// right goes on at once.
func (a *allReduce) run() error {
	m := a.g.members
	if err := a.g.x.push(a.plan.segments(a.plan.chunk(m.Rank, 0), 0)); err != nil {
		return err
	}
	in := a.plan.walk(m.Left().Rank)
	for p, ok := in.next(); ok; p, ok = in.next() {
		var err error
		if p.step < a.plan.scatterSteps() {
			err = a.add(p)
		} else {
			err = a.place(p)
		}
		if err == nil && a.plan.passedOn(p) {
			err = a.g.x.push(1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add receives a partial sum, in reduce-scatter, and adds it.
func (a *allReduce) add(p part) error {
	f, err := a.g.x.receive(a.g.scratch, p.step)
	if err != nil {
		return err
	}
	dst := a.r.Buf[p.span.lo:p.span.hi]
	n := len(f.Payload)
	if p.tail >= 0 {
		n -= TailBytes
	}
	if err = a.in.check(f.Codec, len(dst), n); err == nil {
		err = a.in.decodeAdd(dst, f.Payload[:n], f.Codec)
	}
	if err != nil {
		return a.g.fail(left, p.step, err)
	}
	if p.tail >= 0 {
		copy(a.r.Tails[p.tail*TailBytes:], f.Payload[n:])
	}
	return nil
}

// place receives a sum, in all-gather, and keeps its bytes where they are to be
// passed on.
func (a *allReduce) place(p part) error {
	if err := a.awaitFree(p); err != nil {
		return err
	}
	dst, into := a.r.Buf[p.span.lo:p.span.hi], a.g.scratch
	pass := a.plan.passedOn(p)
	var s *slot
	switch {
	case a.in.direct():
		into = bytesOf(dst)
	case pass:
		s = a.stored.slot(a.placed)
		into = s.room
	}
	f, err := a.g.x.receive(into, p.step)
	if err != nil {
		return err
	}
	if err = a.in.check(f.Codec, len(dst), len(f.Payload)); err == nil && !a.in.direct() {
		err = a.in.decode(dst, f.Payload, f.Codec)
	}
	if err != nil {
		return a.g.fail(left, p.step, err)
	}
	if s != nil {
		s.n, s.codec = len(f.Payload), f.Codec
		a.placed++
	}
	return nil
}

// awaitFree blocks until this rank has sent what p overwrites: the partial sum
// in Buf, and the oldest stored segment. That the neighbour has it already, as
// it mostly does, does not mean that the link is done with it.
//
// The store cannot be the end of a ring of waits: it holds a segment more than
// a chunk has, so if all ranks' stores were full they would hold more segments
// than there are.
func (a *allReduce) awaitFree(p part) error {
	for ; a.walked <= p.step-a.plan.scatterSteps(); a.walked++ {
		a.freed += a.plan.segments(a.plan.chunk(a.g.members.Rank, a.walked), a.walked)
	}
	n := a.freed
	if !a.in.direct() && a.plan.passedOn(p) {
		n = max(n, a.first+a.placed-a.stored.len()+1)
	}
	return a.g.x.awaitSent(n, p.step)
}

// fill makes the next frame to send.
func (a *allReduce) fill(f *Frame) (int, error) {
	p, ok := a.sends.next()
	if !ok {
		panic("ring: no frame left to send")
	}
	own := a.plan.scatterSteps() // the step that sends the chunk owned
	x := a.r.Buf[p.span.lo:p.span.hi]
	switch {
	case p.step > own && a.in.direct():
		f.Payload, f.Codec = bytesOf(x), 0
		return p.step, nil
	case p.step > own:
		s := a.stored.slot(a.forwarded)
		a.forwarded++
		f.Payload, f.Codec = s.room[:s.n], s.codec
		return p.step, nil
	}
	var e []float32
	if a.r.Residual != nil {
		e = a.r.Residual[p.span.lo:p.span.hi]
	}
	var tail []byte
	if p.tail >= 0 {
		tail = a.r.Tails[p.tail*TailBytes:][:TailBytes]
	}
	var err error
	f.Payload, f.Codec, err = a.out.encode(x, e, p.step == own, tail)
	return p.step, err
}
