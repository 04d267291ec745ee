package handshake

import (
	"context"
	"errors"
	"sync"
)

// maxGuests is how many connections may shake hands at the same time. What is
// beyond is closed; a worker dials again.
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

// reception is where guests shake hands.
type reception struct {
	places   chan struct{} // one for each guest
	shaking  sync.WaitGroup
	visitors visitors
}

func newReception() reception { return reception{places: make(chan struct{}, maxGuests)} }

// receive shakes hands with g in a goroutine of its own. part is the acceptor's
// part; what it returns keeps g once the handshake is done. A guest that is not
// kept is closed.
func (r *reception) receive(ctx context.Context, g Guest, part func(Conn) (keep func() error, err error)) {
	select {
	case r.places <- struct{}{}:
	default:
		r.visitors.refused(g.From(), errors.New("too many connections at once"))
		g.Close()
		return
	}
	r.shaking.Go(func() {
		defer func() { <-r.places }()
		var keep func() error
		err := g.Shake(ctx, func(c Conn) (err error) {
			keep, err = part(c)
			return err
		})
		if err == nil {
			err = keep()
		}
		if err == nil {
			return
		}
		if ctx.Err() == nil {
			r.visitors.refused(g.From(), err)
		}
		g.Close()
	})
}
