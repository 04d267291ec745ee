package handshake

import (
	"context"
	"errors"
	"sync"
)

// maxHandshakes is the maximal number of concurrent handshakes. Further connections are
// closed; a worker dials again.
const maxHandshakes = 64

// Inbound is an accepted connection.
type Inbound interface {
	// From returns the address of the other end.
	From() string

	// Handshake runs the acceptor's part over the connection, within a timeout of its
	// own and ctx.
	Handshake(ctx context.Context, part func(Conn) error) error

	Close() error
}

// pool runs the handshakes of accepted connections.
type pool struct {
	slots    chan struct{} // one for each handshake in progress
	running  sync.WaitGroup
	refusals refusals
}

func newPool() *pool { return &pool{slots: make(chan struct{}, maxHandshakes)} }

// handle runs the handshake of g in a goroutine of its own. part is the acceptor's part. The
// function that part returns takes over g after the handshake. If either fails, handle
// closes g.
func (p *pool) handle(ctx context.Context, g Inbound, part func(Conn) (keep func() error, err error)) {
	select {
	case p.slots <- struct{}{}:
	default:
		p.refusals.record(g.From(), errors.New("too many connections at once"))
		g.Close()
		return
	}
	p.running.Go(func() {
		defer func() { <-p.slots }()
		var keep func() error
		err := g.Handshake(ctx, func(c Conn) (err error) {
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
			p.refusals.record(g.From(), err)
		}
		g.Close()
	})
}
