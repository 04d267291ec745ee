package ring

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"ringtrain/ring/codec"
)

// A wire runs collectives over the links among a set of workers: all workers of the group,
// or the drivers of one shard, which are one worker of each host. It is flat: it knows
// nothing of the memory that workers share.
//
// The group admits operations, watches them and ends; a wire only moves frames. An operation may
// take several collectives. Only the operation's goroutine calls the methods of a wire, unless
// they say otherwise. The sender's goroutine runs sendAll, from the first announced frame of a
// collective to the last.
type wire struct {
	members Membership // of the wire: Rank counts them
	places  places
	config  Config
	between side // betweenHosts if the wire joins the drivers of a shard, else 0
	tail    int  // bytes of each worker's tail

	reduce  allReduce
	rounds  rounds
	gather  allGather
	scratch []byte // one received frame

	kind   atomic.Uint32 // opKind of the running collective; 0: none
	number atomic.Uint64 // of the collective, which its frames carry; see PROTOCOL.md
	stall  stall         // of the collective; of the watchdog

	op     *operation // that the collective is a part of
	source frameSource
	mode   sendMode
	head   Frame     // the fields that all frames of the collective share
	peer   *peerLink // that frames are sent to and received from
	ring   peerLink

	frame   Frame // to send next
	filled  bool  // frame is filled in, and perhaps partly sent
	step    int   // of frame, if filled
	pending int   // frames pushed, but neither sent nor announced; of the caller's goroutine

	spareCore     bool // the sender has a core of its own
	queue         sendQueue
	senderStarted bool // the sender has been asked to send frames of the collective
	work          chan struct{}
	done          chan error

	progress    atomic.Uint64 // frames sent and received
	sent        atomic.Int64  // bytes, headers included
	sentOffHost atomic.Int64  // those of them that left the host
}

// newWire returns the collectives of m over the links of t. spareCore reports whether the sender
// has a core of its own.
func newWire(m Membership, t Transport, c Config, spareCore bool) *wire {
	w := &wire{
		members: m, places: m.places(), config: c, tail: TailBytes,
		spareCore: spareCore, work: make(chan struct{}, 1), done: make(chan error, 1),
	}
	w.queue.init()
	w.reduce.at, w.gather.at, w.rounds.at = w.places, w.places, w.places
	w.ring = peerLink{link: t.Ring, to: right, from: left, leavesHost: m.Right().HostID != m.Self().HostID}
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
		l := peerLink{link: link, stream: StreamRounds + uint8(k), to: partner, from: partner}
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
	links := []Link{w.ring.link}
	for k := range w.rounds.peers {
		links = append(links, w.rounds.peers[k].link) // the rest of a peerLink is the running operation's
	}
	return links
}

// closeLinks closes the links of all the wires, which unblocks their users, and returns the
// links' errors. It closes all at once: each may wait for its neighbour. why, unless it is
// nil, is what the neighbours are told.
func closeLinks(wires []*wire, why *Abort) error {
	var links []Link
	for _, w := range wires {
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
	if why != nil && !why.provisional {
		return l.Abort(why)
	}
	return l.Close()
}

// waitFor notes what the goroutine of the operation waits for from now on.
func (w *wire) waitFor(s side, step int) { w.op.waitFor(s|w.between, step) }

// fail returns the failure of the exchange with a neighbour, for which the group ends.
func (w *wire) fail(s side, step int, err error) error { return &fault{s | w.between, step, err} }

// idle returns how long nothing has moved in the running collective, 0 if none runs. The watchdog
// calls it.
func (w *wire) idle(now time.Time, missed time.Duration) time.Duration {
	if w.kind.Load() == 0 {
		return 0
	}
	return w.stall.idle(w.number.Load()+w.progress.Load(), now, missed)
}

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
	kind := opKind(w.kind.Load())
	switch n := w.members.Size() - 1; {
	case kind != opAllReduce, s == partner:
		return kind.String(), step
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
func (w *wire) allReduce(op *operation, r Reduction, parts [][]float32) error {
	if by := w.algorithm(4*len(r.Buf), r.Codec); by != ByRing {
		sumParts(r.Buf, parts, 0, len(r.Buf))
		if err := w.rounds.allReduce(w, op, r, by); err != nil {
			return err
		}
		spreadParts(parts, 0, len(r.Buf))
		return nil
	}
	a := &w.reduce
	a.set(w, r, parts)
	w.start(op, r.terms(ByRing), a, a.sendMode(w.spareCore))
	if err := w.finish(a.run(w)); err != nil {
		return err // the sender may still use a
	}
	a.r, a.parts = Reduction{}, nil
	return nil
}
