// Package memlink implements ring.Link and ring.Memory between the ranks of one process. It
// is for tests, and for benchmarks of everything but the network. It uses no sockets, no
// goroutines and no clock, and allocates nothing per frame. It works in testing/synctest: a
// rank that waits is durably blocked.
package memlink

import (
	"context"
	"fmt"
	"io"
	"maps"

	"ringtrain/ring"
)

// errNeighbourClosed is the error of a rank whose neighbour has closed its link.
var errNeighbourClosed = fmt.Errorf("memlink: neighbour has closed its link: %w", io.EOF)

// link is one rank's end of its pipes.
type link struct {
	left, right *pipe // to receive from and to send to; nil: none
	idle        func(last bool)
}

// Ring returns the links of p ranks, by rank. With one rank, the rank is its own
// neighbour.
func Ring(p int) []ring.Link {
	if p < 1 {
		panic("memlink: no ranks")
	}
	pipes := make([]*pipe, p) // pipes[r] leads to rank r
	for r := range pipes {
		pipes[r] = newPipe()
	}
	links := make([]ring.Link, p)
	for r := range links {
		links[r] = &link{left: pipes[r], right: pipes[(r+1)%p]}
	}
	return links
}

// edge names the pipe of a route.
type edge struct {
	from, to int
	stream   uint8
}

// Open returns the links of each rank's routes, by rank and route. Open of a link over a
// network does the same for one rank. It panics unless the routes fit together.
func Open(routes [][]ring.Route) [][]ring.Link {
	pipes := map[edge]*pipe{}
	for rank, list := range routes {
		for _, r := range list {
			w := edge{rank, r.To, r.Stream}
			if pipes[w] != nil {
				panic("memlink: two routes have the same end")
			}
			if r.To >= 0 {
				pipes[w] = newPipe()
			}
		}
	}
	waiting := maps.Clone(pipes) // pipes without a receiver
	links := make([][]ring.Link, len(routes))
	for rank, list := range routes {
		for _, r := range list {
			links[rank] = append(links[rank], join(rank, r, pipes, waiting))
		}
	}
	if len(waiting) > 0 {
		panic("memlink: a route leads to no rank")
	}
	return links
}

// join returns the link of one route, or nil if the route has no end, and removes the pipe
// that the link receives from from waiting.
func join(rank int, r ring.Route, pipes, waiting map[edge]*pipe) ring.Link {
	if r.To < 0 && r.From < 0 {
		return nil
	}
	l := &link{right: pipes[edge{rank, r.To, r.Stream}]}
	if r.From >= 0 {
		in := edge{r.From, rank, r.Stream}
		if l.left = waiting[in]; l.left == nil {
			panic("memlink: a route comes from no rank")
		}
		delete(waiting, in)
	}
	return l
}

// Send copies f into the pipe. It blocks while the pipe is full.
func (l *link) Send(_ context.Context, f ring.Frame) error {
	if l.right == nil {
		panic("memlink: send on a link that only receives")
	}
	return l.right.put(f)
}

// TrySend sends nothing: a pipe takes a frame whole or blocks.
func (l *link) TrySend(ring.Frame) bool { return false }

// Recv blocks until a frame arrives.
func (l *link) Recv(_ context.Context, into []byte) (ring.Frame, error) {
	if l.left == nil {
		panic("memlink: receive on a link that only sends")
	}
	if l.idle != nil {
		l.idle(true)
	}
	return l.left.get(into)
}

// Close ends both directions. Frames sent before still arrive.
func (l *link) Close() error {
	l.end(errNeighbourClosed)
	return nil
}

// Abort is Close with a reason.
func (l *link) Abort(why *ring.Abort) error {
	l.end(why)
	return nil
}

func (l *link) end(why error) {
	if l.right != nil {
		l.right.closeSender(why)
	}
	if l.left != nil {
		l.left.closeReceiver(why)
	}
}

// Notify implements ring.Link.
func (l *link) Notify(idle func(last bool), aborted func(*ring.Abort)) {
	l.idle = idle
	if l.right != nil {
		l.right.sender.OnAbort(aborted)
	}
	if l.left != nil {
		l.left.receiver.OnAbort(aborted)
	}
}

// Facts asks for no threads: more threads than cores would slow down links in memory.
func (l *link) Facts() ring.LinkFacts { return ring.LinkFacts{} }
