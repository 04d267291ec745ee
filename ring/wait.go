package ring

import "time"

// A Wait is what a worker's group does right now, and for whom it waits. It is what
// a heartbeat carries: of all workers' waits together the root of a stall can be told.
type Wait struct {
	Operation string    // "all-reduce", "all-gather", "broadcast", "barrier", "arena"; "": none runs
	Seq       uint64    // number of the operation in its generation; if none runs, of the next one
	Elements  int       // of the buffer that all ranks must have alike; 0: none
	Peer      int       // rank that it waits for: a neighbour, or a worker of this host; -1: for nobody
	Since     time.Time // when something last moved, to within a tenth of a second; zero if none runs
	Moved     uint64    // frames and barriers that this worker has moved in the operation so far
}

// Waiting returns what the group does right now. It costs the operation nothing,
// and may be called at any time.
func (g *Group) Waiting() Wait {
	s, step := g.waiting()
	w := Wait{Peer: -1}
	g.mu.Lock()
	defer g.mu.Unlock()
	w.Seq = g.op.seq
	if g.op.kind == 0 {
		w.Seq, w.Peer = g.seq, -1
		return w
	}
	w.Operation, w.Elements, w.Since = g.op.kind.String(), g.op.elements, g.op.stall.since
	w.Moved = g.ownMoved() - g.op.before
	if worker, ok := g.neighbour(s, step); ok {
		w.Peer = worker.Rank
	}
	if w.Since.IsZero() {
		w.Since = time.Now()
	}
	return w
}

// ownMoved counts the frames and barriers that this worker's operations have moved.
func (g *Group) ownMoved() uint64 {
	own := g.progress.Load()
	for _, w := range g.wires {
		own += w.progress.Load()
	}
	return own
}
