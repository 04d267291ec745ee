package ring

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"ringtrain/ring/codec"
)

// A wire runs collectives over the links among a set of workers: all workers of the group,
// or the drivers of one shard, which are one worker of each host. It is flat: it knows
// nothing of the memory that workers share.
//
// The group admits operations, watches them and ends; a wire only moves frames. Its methods
// are those of the running operation unless they say otherwise.
type wire struct {
	g       *Group
	members Membership // of the wire: Rank counts them
	places  places
	config  Config
	between side // betweenHosts if the wire joins the drivers of a shard, else 0
	tail    int  // bytes of each worker's tail

	x       exchange
	reduce  allReduce
	rounds  rounds
	gather  allGather
	scratch []byte // one received frame

	kind  opKind // of the running collective; 0: none. Guarded by g.mu
	seq   uint64 // number of the collective, which its frames carry; guarded by g.mu
	stall stall  // of the running collective; guarded by g.mu

	progress    atomic.Uint64 // frames sent and received
	sent        atomic.Int64  // bytes, headers included
	sentOffHost atomic.Int64  // those of them that left the host
}

// newWire returns the collectives of m over the links of t. spare reports whether the sender
// has a core of its own.
func newWire(g *Group, m Membership, t Transport, spareCore bool) *wire {
	w := &wire{g: g, members: m, places: m.places(), config: g.config, tail: TailBytes}
	w.reduce.w, w.gather.w, w.rounds.w = w, w, w
	w.x.init(w, spareCore)
	w.x.ring = peerLink{to: right, from: left, leavesHost: m.Right().HostID != m.Self().HostID}
	w.x.ring.open(t.Ring, &w.x)
	w.openRounds(t.Rounds)
	return w
}

// openRounds prepares the links of recursive doubling, if there are any.
func (w *wire) openRounds(links []Link) {
	d, m := &w.rounds, w.members
	d.plan = cube{m.Size()}
	if len(links) == 0 {
		return
	}
	if len(links) != d.plan.rounds() {
		panic("ring: links of rounds are not as many as rounds")
	}
	for k, link := range links {
		l := peerLink{stream: StreamRounds + uint8(k), to: partner, from: partner}
		l.open(link, &w.x)
		other := d.plan.partner(w.places.me, k)
		if (other >= 0) != (link != nil) {
			panic("ring: links of rounds are not those of this rank")
		}
		if link != nil {
			l.leavesHost = m.Workers[w.places.worker[other]].HostID != m.Self().HostID
		}
		d.peers = append(d.peers, l)
	}
}

// links returns the links of w; those that this worker has no part in are nil.
func (w *wire) links() []Link {
	links := []Link{w.x.ring.link}
	for k := range w.rounds.peers {
		links = append(links, w.rounds.peers[k].link) // the rest of a peerLink is the running operation's
	}
	return links
}

// closeLinks closes the links of all wires, which unblocks their users, and returns the
// links' errors. It closes all at once: each may wait for its neighbour. why, unless it is
// nil, is what the neighbours are told.
func (g *Group) closeLinks(why *Abort) error {
	var links []Link
	for _, w := range g.wires {
		links = append(links, w.links()...)
	}
	errs := make([]error, len(links))
	var closing sync.WaitGroup
	for i, link := range links {
		if link != nil {
			closing.Go(func() { errs[i] = closeLink(link, why) })
		}
	}
	closing.Wait()
	return errors.Join(errs...)
}

func closeLink(l Link, why *Abort) error {
	if a, ok := l.(AbortLink); ok && why != nil && !why.provisional {
		return a.Abort(why)
	}
	return l.Close()
}

// begin starts a collective on a buffer of so many elements, 0 if workers need not have the
// same. On the wire of all workers the collective is an operation of the group; between
// hosts it is a part of the running one.
func (w *wire) begin(ctx context.Context, kind opKind, elements int) error {
	if w == w.g.wire {
		return w.g.begin(ctx, kind, elements)
	}
	w.g.mu.Lock()
	defer w.g.mu.Unlock()
	w.kind, w.stall = kind, stall{}
	return nil
}

// finish ends what begin began.
func (w *wire) finish() {
	if w == w.g.wire {
		w.g.finish()
		return
	}
	w.g.mu.Lock()
	defer w.g.mu.Unlock()
	w.kind = 0
	w.seq++
}

// waitFor notes what the goroutine of the operation waits for from now on.
func (w *wire) waitFor(s side, step int) { w.g.waitFor(s|w.between, step) }

// fail ends the group because the exchange with a neighbour failed; see Group.fail.
func (w *wire) fail(s side, step int, err error) error { return w.g.fail(s|w.between, step, err) }

// neighbour returns the worker that a side stands for in a step, if it is known.
func (w *wire) neighbour(s side, step int) (Worker, bool) {
	switch s {
	case left:
		return w.members.Left(), true
	case right:
		return w.members.Right(), true
	case partner:
		return w.members.Workers[w.places.worker[w.rounds.plan.partnerAt(w.places.me, step)]], true
	default:
		return Worker{}, false
	}
}

// phase names the part of the running collective that a step of the ring, or of doubling,
// belongs to, and the step in it.
func (w *wire) phase(s side, step int) (string, int) {
	switch n := w.members.Size() - 1; {
	case w.kind != opAllReduce, s == partner:
		return w.kind.String(), step
	case step < n:
		return "reduce-scatter", step
	default:
		return "all-gather", step - n
	}
}

// Algorithm returns how the group sums a buffer of so many bytes over its links with a codec,
// nil for none: by ring without links for doubling, else what [Algorithm.Choose] says.
func (g *Group) Algorithm(bytes int, c codec.Codec) Algorithm { return g.wire.algorithm(bytes, c) }

func (w *wire) algorithm(bytes int, c codec.Codec) Algorithm {
	if len(w.rounds.peers) == 0 {
		return ByRing
	}
	coded := c != nil && c.ID() != 0 || w.config.Lossless != nil
	return w.config.Algorithm.Choose(w.members.Size(), bytes, w.tail, coded)
}

// allReduce replaces r.Buf by its sum over the workers of w. Before that, r.Buf becomes the
// sum of parts, if there are any, of which it is the first; after that, all parts become r.Buf.
//
// The ring does the work on parts a segment at a time: right before a segment is first sent
// or added to, its parts are summed, and once the segment is the sum over all workers it is
// spread. So the wire carries one segment while memory works on the next, a segment is in
// the cache when it is sent, and no goroutine is added. Each element is first sent or added
// to once, and its value then does not depend on when.
func (w *wire) allReduce(ctx context.Context, r Reduction, parts [][]float32) error {
	if by := w.algorithm(4*len(r.Buf), r.Codec); by != ByRing {
		sumParts(r.Buf, parts, 0, len(r.Buf))
		if err := w.rounds.allReduce(ctx, r, by); err != nil {
			return err
		}
		spreadParts(parts, 0, len(r.Buf))
		return nil
	}
	a := &w.reduce
	a.set(r, parts)
	w.x.start(ctx, r.terms(ByRing), a, a.sendMode())
	err := w.x.finish(a.run())
	a.r, a.parts = Reduction{}, nil
	return err
}
