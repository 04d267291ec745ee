package port

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// The limits on connections that have not shown what they are.
const (
	maxUnknown  = 256
	showTimeout = 5 * time.Second
)

// magicBytes is how many bytes tell the kind of a connection.
const magicBytes = 4

// The first bytes of the kinds that are handed on; [Question] is answered here.
const (
	magicHTTP2 = "PRI "
	magicLink  = "RTL\x01"
)

// Port is a listening socket shared by gRPC and links. Its methods may be
// called from several goroutines.
type Port struct {
	lis         net.Listener
	grpc, links *queue
	unknown     *crowd
	whose       atomic.Pointer[func() Owner] // nil: nobody is told
	done        chan struct{}                // closed by Close
	closing     sync.Once
	running     sync.WaitGroup
}

// Listen listens on addr: "host:port", "host:lo-hi" for the first free port of
// a range, ":0" for any free port of any interface.
//
// A port that another program has, or a range without a free one, is
// exitcode.Retry. Who has a port is asked, and named if it answers. An address that is misspelt or not of this host is
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

// serve sorts the connections of lis until Close.
func serve(lis net.Listener) *Port {
	p := &Port{
		lis:     lis,
		grpc:    newQueue(lis.Addr()),
		links:   newQueue(lis.Addr()),
		unknown: newCrowd(maxUnknown),
		done:    make(chan struct{}),
	}
	p.running.Go(p.acceptAll)
	return p
}

// Addr returns host:port that p listens on, with the port that the system
// chose where any would do.
func (p *Port) Addr() string { return p.lis.Addr().String() }

// GRPC returns the connections that begin as HTTP/2 does. To close it closes
// this kind only: later ones are refused.
func (p *Port) GRPC() net.Listener { return p.grpc }

// Links returns the connections that begin as a link does. The listener has
// SetDeadline, which bounds Accept as that of *net.TCPListener does. To close
// it closes this kind only: later ones are refused.
func (p *Port) Links() net.Listener { return p.links }

// Tell lets p answer whoever asks whose it is. whose is called for each, from
// several goroutines, and should not block. It may be told anew.
func (p *Port) Tell(whose func() Owner) { p.whose.Store(&whose) }

// Close stops listening and closes every connection that nobody has accepted
// yet; accepted ones belong to who accepted them. Accept of both listeners
// returns net.ErrClosed from now on. When Close returns, no goroutine of p is
// left. It may be called more than once.
func (p *Port) Close() error {
	var err error
	p.closing.Do(func() {
		close(p.done)
		err = p.lis.Close()
		p.unknown.disperse()
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
			if !p.unknown.enter(c) {
				c.Close()
				continue
			}
			p.running.Go(func() { p.sort(c) })
		case errors.Is(err, net.ErrClosed):
			return
		default: // out of file descriptors, most likely: it passes
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			select {
			case <-p.done:
				return
			case <-time.After(pause):
			}
		}
	}
}

// sort waits for the first bytes of c and hands it to who takes that kind. Who
// only asks stays in the crowd until it is answered, and so within its bounds.
func (p *Port) sort(c net.Conn) {
	s := &Conn{Conn: c}
	c.SetDeadline(time.Now().Add(showTimeout))
	_, err := io.ReadFull(c, s.head[:])
	if err == nil && string(s.head[:]) == Question {
		p.answer(c)
	}
	c.SetDeadline(time.Time{})
	if !p.unknown.leave(c) || err != nil {
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

// answer tells whose p is. What cannot be written is asked again, or not.
func (p *Port) answer(c net.Conn) {
	if whose := p.whose.Load(); whose != nil {
		c.Write(appendAnswer(nil, (*whose)()))
	}
}
