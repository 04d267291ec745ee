package handshake

import (
	"context"
	"errors"
	"sync"
)

// maxGuests is how many connections may shake hands at the same time. What is
// beyond is closed; the left neighbour dials again.
const maxGuests = 64

// Guest is a connection that has come from somebody.
type Guest interface {
	// From returns the address that it came from.
	From() string

	// Shake does the acceptor's part over the connection, within a time of its
	// own and ctx.
	Shake(ctx context.Context, part func(Conn) error) error

	Close() error
}

// Await waits for the left neighbour among the guests that next delivers. Each
// shakes hands in a goroutine of its own, so that one that is silent holds up
// nobody; all have ended, and all but the left neighbour are closed, when
// Await returns. next must return when its context ends.
//
// If ctx ends first the error is a *ring.PeerError that names the left
// neighbour and tells who came instead (exitcode.Retry). An error of next that
// is not the end of its context is returned as it is.
func Await[G Guest](ctx context.Context, p Party, next func(context.Context) (G, error)) (G, error) {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	h := host[G]{party: p, places: make(chan struct{}, maxGuests), found: stop}
	var broken error
	for waiting.Err() == nil {
		g, err := next(waiting)
		if err == nil {
			h.receive(waiting, g)
		} else if waiting.Err() == nil {
			broken = err
			stop()
		}
	}
	h.guests.Wait()
	switch {
	case h.here:
		return h.left, nil
	case broken != nil:
		return h.left, broken
	}
	return h.left, h.visitors.missing(ctx, p.Membership.Left())
}

// host receives guests and keeps the one that is the left neighbour.
type host[G Guest] struct {
	party    Party
	places   chan struct{} // one for each guest
	guests   sync.WaitGroup
	visitors visitors
	found    func() // ends the wait

	mu   sync.Mutex
	here bool
	left G
}

// receive shakes hands with g in a goroutine of its own.
func (h *host[G]) receive(ctx context.Context, g G) {
	select {
	case h.places <- struct{}{}:
	default:
		h.visitors.refused(g.From(), errors.New("too many connections at once"))
		g.Close()
		return
	}
	h.guests.Go(func() {
		defer func() { <-h.places }()
		err := g.Shake(ctx, h.party.Accept)
		if err == nil && h.keep(g) {
			return
		}
		if err != nil && ctx.Err() == nil {
			h.visitors.refused(g.From(), err)
		}
		g.Close()
	})
}

// keep takes g for the left neighbour, if none was taken before.
func (h *host[G]) keep(g G) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.here {
		return false
	}
	h.here, h.left = true, g
	h.found()
	return true
}
