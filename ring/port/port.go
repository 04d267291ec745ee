package port

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
)

// firstTLS is the first byte of a connection that uses TLS.
const firstTLS = 0x16

// Port is a listening socket for gRPC and links. Its methods may be called from several
// goroutines.
type Port struct {
	lis         net.Listener
	token       token.Token
	identity    *token.Identity
	grpc, links *Queue
	memory      atomic.Pointer[Queue] // nil: none is open
	seats       seats
	strangers   register
	owner       atomic.Pointer[func() Owner] // nil: not known
	done        chan struct{}                // closed by Close
	closing     sync.Once
	running     sync.WaitGroup
}

// Listen listens on addr: "host:port", "host:lo-hi" for the first free port of a range, or ":0"
// for any free port of any interface. Who connects must prove t.
//
// A taken port, or a range without a free one, is exitcode.Retry; the error names the owner of
// a port if it answers. An address that is malformed or not of this host is
// exitcode.Usage.
func Listen(addr string, t token.Token) (*Port, error) {
	a, err := parse(addr)
	if err != nil {
		return nil, err
	}
	lis, err := a.listen(t)
	if err != nil {
		return nil, err
	}
	p, err := Serve(lis, t)
	if err != nil {
		lis.Close()
	}
	return p, err
}

// Serve serves the connections of lis until Close, which closes lis. Who connects must prove t.
func Serve(lis net.Listener, t token.Token) (*Port, error) {
	identity, err := token.NewIdentity()
	if err != nil {
		return nil, err
	}
	p := &Port{
		lis:       lis,
		token:     t,
		identity:  identity,
		grpc:      newQueue(lis.Addr()),
		links:     newQueue(lis.Addr()),
		strangers: register{known: map[netip.Addr]*Stranger{}},
		done:      make(chan struct{}),
	}
	p.running.Go(func() { p.acceptAll(lis, p.route) })
	return p, nil
}

// Memory serves lis too: the socket on which the ranks of this host meet for the memory that they
// share. It returns the connections for it, whose requests wait for an answer. To close the queue closes
// lis.
func (p *Port) Memory(lis net.Listener) *Queue {
	q := newQueue(lis.Addr()).open()
	q.source = lis
	p.memory.Store(q)
	p.running.Go(func() {
		p.acceptAll(lis, func(c *token.Conn) (token.Answer, bool) {
			c.SetDeadline(time.Time{})
			return token.Refuse(errors.New("is a host's memory")), c.Request.Purpose == token.Memory && q.put(c)
		})
	})
	return q
}

// Addr returns the host:port on which p listens, with the port that the system
// chose for port 0.
func (p *Port) Addr() string { return p.lis.Addr().String() }

// GRPC returns the connections for control and status, whose requests are answered. Before the first
// call they are refused: the port is no rendezvous. Closing the queue ends this kind only.
func (p *Port) GRPC() *Queue { return p.grpc.open() }

// Links returns the connections for links, whose requests wait for an answer. Before the first call
// they are refused. Closing the queue ends this kind only.
func (p *Port) Links() *Queue { return p.links.open() }

// SetOwner sets the function that returns the owner of p. It is called once for each question and
// refusal, from several goroutines, and should not block. It may be replaced.
func (p *Port) SetOwner(whose func() Owner) { p.owner.Store(&whose) }

// Close stops listening and closes all connections that were not taken. When Close returns, all
// goroutines of p have ended. It may be called more than once.
func (p *Port) Close() error {
	var err error
	p.closing.Do(func() {
		close(p.done)
		err = p.lis.Close()
		if q := p.memory.Load(); q != nil {
			q.Close()
		}
		p.grpc.Close()
		p.links.Close()
		p.seats.closeAll()
	})
	p.running.Wait()
	return err
}

// acceptAll gives the connections of lis their seats. route hands those that have proved the token to
// their owner; if keep is false, a is the answer and the connection has no owner.
func (p *Port) acceptAll(lis net.Listener, route func(*token.Conn) (a token.Answer, keep bool)) {
	var pause time.Duration
	for {
		c, err := lis.Accept()
		switch {
		case err == nil:
			pause = 0
			s := p.seats.take(c)
			if s == nil {
				c.Close()
				continue
			}
			p.running.Go(func() { p.admit(s, route) })
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

// admit runs the exchange of a seat and hands the proved connection to route.
func (p *Port) admit(s *seat, route func(*token.Conn) (token.Answer, bool)) {
	s.SetDeadline(time.Now().Add(token.Timeout))
	c, err := p.prove(s)
	if !p.seats.leave(s) && err == nil {
		err = net.ErrClosed
	}
	if err != nil {
		s.Close()
		probe := s.silent() && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)) // of TCP
		if !probe && exitcode.Of(err) != exitcode.Protocol {                                  // which has proved the token
			p.strangers.add(addressOf(s), err)
		}
		return
	}
	c.SetSocket(s.Conn)
	a, keep := route(c)
	if !keep {
		_ = c.Answer(a) // the dialer may ask again
		c.Close()
	}
}

// prove runs the acceptor's part of the exchange over s.
func (p *Port) prove(s *seat) (*token.Conn, error) {
	var head [16]byte
	n, err := io.ReadAtLeast(s, head[:], len(token.Preamble))
	if err != nil {
		return nil, err
	}
	again := replayed{s, io.MultiReader(bytes.NewReader(head[:n]), s)}
	switch {
	case head[0] == firstTLS:
		return p.identity.AcceptTLS(again, p.token)
	case string(head[:len(token.Preamble)]) == token.Preamble:
		return p.token.AcceptClear(again)
	}
	return nil, token.Foreign(head[:n])
}

// replayed is a connection whose first bytes were read ahead.
type replayed struct {
	net.Conn
	whole io.Reader
}

func (r replayed) Read(p []byte) (int, error) { return r.whole.Read(p) }

// route hands c to its purpose; see acceptAll.
func (p *Port) route(c *token.Conn) (a token.Answer, keep bool) {
	switch purpose := c.Request.Purpose; {
	case !c.Secure() && purpose != token.Link:
		return token.Refuse(fmt.Errorf("%v wants TLS", purpose)), false
	case purpose == token.Owner:
		return token.Answer{Data: appendOwner(nil, p.whose())}, false
	case purpose == token.Link:
		c.SetDeadline(time.Time{})
		keep = p.links.put(c)
	case purpose == token.Control || purpose == token.Status:
		keep = p.grpc.answer(c)
	}
	return token.Refuse(errors.New(p.whose().sentence(c.Request.Purpose))), keep
}

// whose returns the owner of p.
func (p *Port) whose() Owner {
	if whose := p.owner.Load(); whose != nil {
		return (*whose)()
	}
	return Owner{Rank: -1}
}
