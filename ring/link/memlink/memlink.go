// Package memlink joins the ranks of one process in memory. It is the link of
// tests and of benchmarks of everything but the network: no sockets, no
// goroutines, no clock, nothing allocated per frame, and at home in
// testing/synctest, where whoever waits on it is durably blocked.
package memlink

import (
	"context"
	"errors"

	"ringtrain/ring"
)

// errGone is what a rank gets whose neighbour has closed its link.
var errGone = errors.New("memlink: neighbour has closed its link")

// link is one rank's end of its two pipes.
type link struct {
	left, right *pipe
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

// Send copies f into the pipe and blocks while that is full.
func (l *link) Send(_ context.Context, f ring.Frame) error { return l.right.put(f) }

// Recv blocks until the left neighbour has sent a frame.
func (l *link) Recv(_ context.Context, into []byte) (ring.Frame, error) { return l.left.get(into) }

// Close ends both directions. What was sent before still arrives.
func (l *link) Close() error {
	l.right.closeSender()
	l.left.closeReceiver()
	return nil
}
