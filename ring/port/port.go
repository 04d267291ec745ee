package port

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// The limits on pending connections.
const (
	maxPending  = 256
	kindTimeout = 5 * time.Second
)

// magicBytes is the number of bytes that name the kind of a connection.
const magicBytes = 4

// The first bytes of the kinds that Accept returns. The port answers [Question] itself.
const (
	magicHTTP2 = "PRI "
	magicLink  = "RTL\x02"
)

// Port is a listening socket for gRPC and links. Its methods may be called from several
// goroutines.
type Port struct {
	lis         net.Listener
	grpc, links *queue
	pending     *pendingConns
	owner       atomic.Pointer[func() Owner] // nil: queries are not answered
	done        chan struct{}                // closed by Close
	closing     sync.Once
	running     sync.WaitGroup
}

// Listen listens on addr: "host:port", "host:lo-hi" for the first free port of a range, or ":0"
// for any free port of any interface.
//
// A taken port, or a range without a free one, is exitcode.Retry; the error names the owner of
// a port if it answers. An address that is malformed or not of this host is
// exitcode.Usage.
func Listen(addr string) (*Port, error) {
	a, err := parse(addr)
	if err != nil {
		return nil, err
	}
	lis, err := a.listen()
	if err != nil {
		return nil, err
	}
	return serve(lis), nil
}

// serve dispatches the connections of lis until Close.
func serve(lis net.Listener) *Port {
	p := &Port{
		lis:     lis,
		grpc:    newQueue(lis.Addr()),
		links:   newQueue(lis.Addr()),
		pending: newPendingConns(maxPending),
		done:    make(chan struct{}),
	}
	p.running.Go(p.acceptAll)
	return p
}

// Addr returns the host:port on which p listens, with the port that the system
// chose for port 0.
func (p *Port) Addr() string { return p.lis.Addr().String() }

// GRPC returns a listener for the connections that begin as HTTP/2. Closing it ends this kind
// only: later connections of the kind are closed.
func (p *Port) GRPC() net.Listener { return p.grpc }

// Links returns a listener for the connections that begin as a link. It has a SetDeadline like
// that of *net.TCPListener. Closing it ends this kind only: later connections of the kind are
// closed.
func (p *Port) Links() net.Listener { return p.links }

// SetOwner sets the function that returns the owner of p for queries. It is called once for each
// query, from several goroutines, and should not block. It may be replaced.
func (p *Port) SetOwner(whose func() Owner) { p.owner.Store(&whose) }

// Close stops listening and closes all connections that Accept has not returned. Accept of both
// listeners returns net.ErrClosed from now on. When Close returns, all goroutines of p have
// ended. It may be called more than once.
func (p *Port) Close() error {
	var err error
	p.closing.Do(func() {
		close(p.done)
		err = p.lis.Close()
		p.pending.closeAll()
	})
	p.running.Wait()
	return errors.Join(err, p.grpc.Close(), p.links.Close())
}

func (p *Port) acceptAll() {
	var pause time.Duration
	for {
		c, err := p.lis.Accept()
		switch {
		case err == nil:
			pause = 0
			if !p.pending.add(c) {
				c.Close()
				continue
			}
			p.running.Go(func() { p.dispatch(c) })
		case errors.Is(err, net.ErrClosed):
			return
		default: // most likely out of file descriptors, which passes
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			select {
			case <-p.done:
				return
			case <-time.After(pause):
			}
		}
	}
}

// dispatch reads the first bytes of c and passes it to the queue of its kind. A query stays pending
// until it is answered.
func (p *Port) dispatch(c net.Conn) {
	s := &Conn{Conn: c}
	c.SetDeadline(time.Now().Add(kindTimeout))
	_, err := io.ReadFull(c, s.head[:])
	if err == nil && string(s.head[:]) == Question {
		p.answer(c)
	}
	c.SetDeadline(time.Time{})
	if !p.pending.remove(c) || err != nil {
		c.Close()
		return
	}
	switch string(s.head[:]) {
	case magicHTTP2:
		p.grpc.put(s)
	case magicLink:
		p.links.put(s)
	default:
		c.Close()
	}
}

// answer sends the owner of p. It ignores errors: the client may ask again.
func (p *Port) answer(c net.Conn) {
	if whose := p.owner.Load(); whose != nil {
		c.Write(appendAnswer(nil, (*whose)()))
	}
}
