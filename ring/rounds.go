package ring

import (
	"fmt"

	"ringtrain/ring/internal/vec"
)

// A rounds is the running all-reduce over the links of recursive doubling. It sums the buffer
// in pieces. In each step both partners send a message, which is one frame, and then receive
// one.
//
// If no frame exceeds eagerBytes the caller's goroutine sends. A link takes one such frame
// while the partner does not receive, so the rank that is behind all others never waits.
// Otherwise the caller's goroutine sends as far as the link does not block, and the sender
// sends the rest, one frame at a time. Then too no rank waits for ever: a rank that has
// received in a step has its partner's frame of that step.
type rounds struct {
	at    places // of the wire
	plan  cube
	peers []peerLink // by round

	x     []float32 // the piece
	tails []byte    // all ranks', in the first piece; nil in the others
	tail  int       // bytes of a rank's tail in this piece
	in    []float32 // memory of messages received
	out   []float32 // and of those to send that are not one piece of memory

	step    int // of the frame to send next
	payload []byte
	sends   int // frames so far
}

// A pieceAlgorithm is the part of a rank with a corner in the sum of a piece. A span holds the
// positions whose tails a message carries.
type pieceAlgorithm interface {
	message(edge int, held span) []byte // what goes to the partner across an edge
	room(edge int, theirs span) []byte  // for its message: as long as that must be
	absorb(edge int, theirs span, got []byte)
	finish(w *wire) error // the piece is the sum, tails are all ranks'
}

// beforeEdges is the number of the edge between a corner and its extra rank.
const beforeEdges = -1

// maxRoundsTails bounds the tails of all ranks, so that half a frame is left for elements. With
// longer tails the ring sums all sizes.
const maxRoundsTails = eagerBytes / 2

// allReduce sums red over the workers of w by an algorithm that takes rounds.
func (r *rounds) allReduce(w *wire, op *operation, red Reduction, by Algorithm) error {
	r.tails, r.tail, r.sends = red.Tails, 0, 0
	if red.Tails != nil {
		r.tail = w.tail
	}
	most := r.pieceElements(by, w.config.SegmentElements)
	longest := r.longest(by, min(most, len(red.Buf)))
	r.in = vec.Resize(r.in, longest/4)
	if red.Tails != nil {
		r.out = vec.Resize(r.out, longest/4)
	}
	for k := range r.peers {
		r.peers[k].reset()
	}
	mode := prompt
	if longest <= eagerBytes {
		mode = eager
	}
	w.start(op, red.terms(by), r, mode)
	if err := w.finish(r.run(w, red.Buf, most, r.algorithm(by))); err != nil {
		return err // the sender may still use r
	}
	r.x, r.tails, r.payload = nil, nil, nil
	return nil
}

// run sums the pieces of rest, each of most elements at most.
func (r *rounds) run(w *wire, rest []float32, most int, m pieceAlgorithm) error {
	for len(rest) > 0 || r.tails != nil {
		n := min(most, len(rest))
		r.x, rest = rest[:n], rest[n:]
		if err := r.sum(w, m); err != nil {
			return err
		}
		r.tails, r.tail = nil, 0
	}
	return r.awaitSends(w) // here, while r.step names the neighbour of the last message
}

// pieceElements returns the largest length of a piece. Whole cache lines are faster to add.
func (r *rounds) pieceElements(by Algorithm, segment int) int {
	if by == ByDoubling {
		return (eagerBytes - r.plan.size*r.tail) / arenaAlign * (arenaAlign / 4)
	}
	return segment << (1 - r.plan.before()) // where none are extra it is halved before it is sent
}

// longest returns the largest message of a piece of n elements in bytes, rounded up to
// elements.
func (r *rounds) longest(by Algorithm, n int) int {
	if by == ByHalving && r.plan.before() == 0 {
		n = (n + 1) / 2
	}
	return 4*n + (r.plan.size*r.tail+3)/4*4
}

func (r *rounds) algorithm(by Algorithm) pieceAlgorithm {
	if by == ByDoubling {
		return (*doubling)(r)
	}
	return (*halving)(r)
}

// sum replaces the piece by its sum.
func (r *rounds) sum(w *wire, m pieceAlgorithm) error {
	if err := r.awaitSends(w); err != nil {
		return err
	}
	me := r.at.me
	if r.plan.extra(me) {
		return r.delegate(w)
	}
	if r.plan.paired(me) {
		if err := r.receive(w, m, 0, beforeEdges, span{me + 1, me + 2}); err != nil {
			return err
		}
	}
	for edge := range r.plan.edges() {
		step := r.plan.before() + edge
		if err := r.send(w, step, m.message(edge, r.plan.held(me, edge))); err != nil {
			return err
		}
		theirs := r.plan.held(r.plan.partnerAt(me, step), edge)
		if err := r.receive(w, m, step, edge, theirs); err != nil {
			return err
		}
	}
	if err := m.finish(w); err != nil {
		return err
	}
	if r.plan.paired(me) {
		return r.send(w, r.plan.back(0), r.joined(r.x, r.all()))
	}
	return nil
}

// delegate is the part of an extra rank: it gives its part to its partner and receives the sum.
func (r *rounds) delegate(w *wire) error {
	me := r.at.me
	if err := r.send(w, 0, r.joined(r.x, span{me, me + 1})); err != nil {
		return err
	}
	return r.takeSum(w, r.plan.back(0))
}

func (r *rounds) all() span { return span{0, r.plan.size} }

// receive receives the partner's message of a step.
func (r *rounds) receive(w *wire, m pieceAlgorithm, step, edge int, theirs span) error {
	got, err := r.receiveMessage(w, step, m.room(edge, theirs))
	if err == nil {
		m.absorb(edge, theirs, got)
	}
	return err
}

// send sends a message over the link of a step's round, or leaves it to the sender.
func (r *rounds) send(w *wire, step int, message []byte) error {
	r.step, r.payload = step, message
	w.peer = &r.peers[r.plan.roundOf(step)]
	r.sends++
	return w.push(1)
}

// awaitSends waits until all messages are sent, so that their memory may change.
func (r *rounds) awaitSends(w *wire) error { return w.awaitSent(r.sends, r.step) }

// fill makes the frame of the message to send.
func (r *rounds) fill(f *Frame) int {
	f.Payload = r.payload
	return r.step
}

// receiveMessage receives the message of a step into room, whose length it must have. It
// returns after this rank's message of the step is sent too.
func (r *rounds) receiveMessage(w *wire, step int, room []byte) ([]byte, error) {
	w.peer = &r.peers[r.plan.roundOf(step)]
	f, err := w.receive(room, step)
	if err == nil && len(f.Payload) != len(room) {
		err = w.fail(partner, step, fmt.Errorf("%w: payload of %d bytes, want %d", ErrCorruptFrame, len(f.Payload), len(room)))
	}
	if err == nil {
		err = r.awaitSends(w)
	}
	return f.Payload, err
}

// joined returns a message of elements x and the tails of the workers at the positions held.
func (r *rounds) joined(x []float32, held span) []byte {
	if r.tails == nil {
		return vec.Bytes(x)
	}
	m := vec.Bytes(r.out)[:4*len(x)+held.len()*r.tail]
	n := copy(m, vec.Bytes(x))
	for at := held.lo; at < held.hi; at++ {
		n += copy(m[n:], r.tailAt(at))
	}
	return m
}

// joinedRoom returns the memory for such a message of n elements.
func (r *rounds) joinedRoom(n int, theirs span) []byte {
	return vec.Bytes(r.in)[:4*n+theirs.len()*r.tail]
}

// split copies the tails out of such a message and returns the bytes of its elements.
func (r *rounds) split(n int, theirs span, m []byte) []byte {
	if r.tails != nil {
		tails := m[4*n:]
		for at := theirs.lo; at < theirs.hi; at++ {
			tails = tails[copy(r.tailAt(at), tails):]
		}
	}
	return m[:4*n]
}

// tailAt returns the tail of the worker at a position.
func (r *rounds) tailAt(position int) []byte {
	return r.tails[r.at.worker[position]*r.tail:][:r.tail]
}
