// Package memlink joins the ranks of one process in memory. It is the link of
// tests and of benchmarks of everything but the network: no sockets, no
// goroutines, no clock, nothing allocated per frame, and at home in
// testing/synctest, where whoever waits on it is durably blocked.
package memlink

import (
	"context"
	"fmt"
	"io"
	"maps"

	"ringtrain/ring"
)

// errGone is what a rank gets whose neighbour has closed its link.
var errGone = fmt.Errorf("memlink: neighbour has closed its link: %w", io.EOF)

// link is one rank's end of its pipes.
type link struct {
	left, right *pipe // where it receives from and sends to; nil: nowhere
}

// Ring returns the links of p ranks, by rank. At p = 1 the rank is its own
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

// way is what a pipe joins.
type way struct {
	from, to int
	stream   uint8
}

// Open returns the links of each rank's routes, by rank and route, as Open of
// the links over a network does for one rank. It panics unless the routes fit
// together.
func Open(routes [][]ring.Route) [][]ring.Link {
	pipes := map[way]*pipe{}
	for rank, list := range routes {
		for _, r := range list {
			w := way{rank, r.To, r.Stream}
			if pipes[w] != nil {
				panic("memlink: two routes have the same end")
			}
			if r.To >= 0 {
				pipes[w] = newPipe()
			}
		}
	}
	waiting := maps.Clone(pipes) // for who receives from them
	links := make([][]ring.Link, len(routes))
	for rank, list := range routes {
		for _, r := range list {
			links[rank] = append(links[rank], join(rank, r, pipes, waiting))
		}
	}
	if len(waiting) > 0 {
		panic("memlink: a route leads to nobody")
	}
	return links
}

// join returns the link of one route, nil if it joins nobody, and takes what it
// receives from out of waiting.
func join(rank int, r ring.Route, pipes, waiting map[way]*pipe) ring.Link {
	if r.To < 0 && r.From < 0 {
		return nil
	}
	l := &link{right: pipes[way{rank, r.To, r.Stream}]}
	if r.From >= 0 {
		in := way{r.From, rank, r.Stream}
		if l.left = waiting[in]; l.left == nil {
			panic("memlink: a route comes from nobody")
		}
		delete(waiting, in)
	}
	return l
}

// Send copies f into the pipe and blocks while that is full.
func (l *link) Send(_ context.Context, f ring.Frame) error {
	if l.right == nil {
		panic("memlink: send on a link that only receives")
	}
	return l.right.put(f)
}

// Recv blocks until the left neighbour has sent a frame.
func (l *link) Recv(_ context.Context, into []byte) (ring.Frame, error) {
	if l.left == nil {
		panic("memlink: receive on a link that only sends")
	}
	return l.left.get(into)
}

// Close ends both directions. What was sent before still arrives.
func (l *link) Close() error {
	l.end(errGone)
	return nil
}

// Abort is that of a ring.AbortLink.
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

// OnAbort is that of a ring.AbortLink.
func (l *link) OnAbort(heard func(*ring.Abort)) {
	if l.right != nil {
		l.right.sender.OnAbort(heard)
	}
	if l.left != nil {
		l.left.receiver.OnAbort(heard)
	}
}
