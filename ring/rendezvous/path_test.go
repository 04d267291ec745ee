package rendezvous

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"

	"ringtrain/ring/rendezvous/state"
)

// path is the network path of one worker, and its port. A dark path drops all bytes without an
// error, also on connections that are opened later. A mute path drops those of the worker.
type path struct {
	mu         sync.Mutex
	conns      []net.Conn
	dark, mute bool
	slow       time.Duration // a dial takes so long
	dead       bool          // the process has ended: its port is closed
	session    *Session
}

// follows returns the instance of the rendezvous that the worker follows, 0 if it is not known.
func (p *path) follows() uint64 {
	if p.session == nil {
		return 0
	}
	return p.session.Follows()
}

// paths holds the paths of workers by incarnation.
type paths struct {
	mu  sync.Mutex
	all map[uint64]*path
}

func (p *paths) of(incarnation uint64) *path {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[uint64]*path{}
	}
	if p.all[incarnation] == nil {
		p.all[incarnation] = new(path)
	}
	return p.all[incarnation]
}

// probe answers a probe of a member's port.
func (p *paths) probe(_ context.Context, q state.Probe) state.Probed {
	if q.Incarnation == 0 {
		return state.Probed{Reason: "no word"}
	}
	w := p.of(q.Incarnation)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.dead:
		return state.Probed{Refused: true, Reason: "connection refused"}
	case w.dark, w.mute:
		return state.Probed{Reason: "connect timeout"}
	}
	return state.Probed{Owner: q.Incarnation, Follows: w.follows()}
}

// through returns a dial over the path.
func (p *path) through(dial dialFunc) dialFunc {
	return func(ctx context.Context, addr string) (net.Conn, error) {
		if err := p.delay(ctx); err != nil {
			return nil, err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.dead {
			return nil, syscall.ECONNREFUSED
		}
		c, err := dial.open(ctx, addr)
		if err == nil {
			p.conns = append(p.conns, c)
			p.set(c)
		}
		return c, err
	}
}

// delay waits as long as a dial takes.
func (p *path) delay(ctx context.Context) error {
	p.mu.Lock()
	slow := p.slow
	p.mu.Unlock()
	if slow > 0 {
		dial, stop := context.WithTimeout(ctx, slow)
		defer stop()
		<-dial.Done()
	}
	return ctx.Err()
}

// set sets what a connection does.
func (p *path) set(c net.Conn) {
	if end, ok := c.(*pipeEnd); ok {
		end.cut.Store(p.dark)
		end.mute.Store(p.mute)
	}
}

// change changes the path and all its connections.
func (p *path) change(how func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	how()
	for _, c := range p.conns {
		p.set(c)
	}
}

// reset breaks all connections.
func (p *path) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		c.Close()
	}
	p.conns = nil
}

// kill ends the process.
func (p *path) kill() {
	p.change(func() { p.dead = true })
	p.reset()
}
