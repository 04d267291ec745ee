package handshake

import (
	"context"
	"errors"
	"net"
	"sync"
)

// maxHandshakes is the maximal number of concurrent handshakes. Further connections are
// closed; a worker dials again.
const maxHandshakes = 64

// pool runs the handshakes of accepted connections.
type pool struct {
	slots    chan struct{} // one for each handshake in progress
	running  sync.WaitGroup
	refusals refusals
}

func newPool() *pool { return &pool{slots: make(chan struct{}, maxHandshakes)} }

// handle runs shake, the handshake of conn, in a goroutine of its own, and closes conn if it fails.
func (p *pool) handle(ctx context.Context, conn net.Conn, shake func() error) {
	from := conn.RemoteAddr().String()
	select {
	case p.slots <- struct{}{}:
	default:
		p.refusals.record(from, errors.New("too many connections at once"))
		conn.Close()
		return
	}
	p.running.Go(func() {
		defer func() { <-p.slots }()
		err := shake()
		if err == nil {
			return
		}
		if ctx.Err() == nil {
			p.refusals.record(from, err)
		}
		conn.Close()
	})
}
