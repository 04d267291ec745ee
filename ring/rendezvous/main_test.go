package rendezvous

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

// TestMain verifies that no goroutine is left after the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testServer is a rendezvous for tests, with its address and a way to dial it.
type testServer struct {
	*Server
	addr  string
	token token.Token
	dial  dialFunc
	paths *paths // of the workers

	port     *port.Port
	listener *pipeListener                 // of serveAlone
	door     *atomic.Pointer[pipeListener] // where a dial of its address arrives
}

// serve starts a rendezvous on loopback that ends with the test.
func serve(t *testing.T, c ServerConfig) *testServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, c, l, nil)
}

// serveInMemory starts a rendezvous without a network, for tests with a fake clock.
func serveInMemory(t *testing.T, c ServerConfig) *testServer {
	t.Helper()
	c.Unique = true
	p := newPipeListener()
	return serveOn(t, c, p, p.dial)
}

func serveOn(t *testing.T, c ServerConfig, l net.Listener, dial dialFunc) *testServer {
	c.Token = token.New()
	s := &testServer{addr: l.Addr().String(), token: c.Token, dial: dial, paths: new(paths)}
	if c.Probe == nil {
		c.Probe = s.paths.probe
	}
	s.start(t, l, c)
	t.Cleanup(func() { s.Close() })
	return s
}

// start serves the rendezvous at a port on l.
func (s *testServer) start(t *testing.T, l net.Listener, c ServerConfig) {
	t.Helper()
	p, err := port.Serve(l, c.Token)
	if err != nil {
		t.Fatal(err)
	}
	c.Strangers = p.Strangers
	s.port = p
	s.Server = Serve(wholePort{p.GRPC(), p}, c)
}

// wholePort is the listener of a port. Its Close closes the port.
type wholePort struct {
	net.Listener
	port *port.Port
}

func (p wholePort) Close() error { return p.port.Close() }

// worker returns the options of one rank of a job of the given size.
func (s *testServer) worker(rank, size int) Options {
	o := Options{
		Addr: s.addr, Token: s.token, Rank: rank, WorldSize: size, Self: Self(":4000"),
		Version: "v1", Agree: []string{"seed=1"}, StartTimeout: time.Minute, dial: s.dial,
	}
	return s.process(o, uint64(rank+2))
}

// process returns o for the process with an incarnation, which has a path of its own.
func (s *testServer) process(o Options, incarnation uint64) Options {
	o.Self.Host, o.Self.Incarnation = fmt.Sprint("host", o.Rank), incarnation
	o.dial = s.paths.of(incarnation).through(s.dial)
	return o
}

// pathOf returns the path of a worker.
func (s *testServer) pathOf(m *Session) *path { return s.paths.of(m.options.Self.Incarnation) }

// joinAll joins all workers at the same time. The sessions close with the test.
func joinAll(t *testing.T, all ...Options) []*Session {
	t.Helper()
	sessions := make([]*Session, len(all))
	var wg sync.WaitGroup
	for i, o := range all {
		wg.Go(func() {
			s, err := Join(t.Context(), o)
			if err != nil {
				t.Errorf("rank %d: %v", o.Rank, err)
				return
			}
			sessions[i] = s
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() { closeAll(sessions...) })
	return sessions
}

// workers returns the options of all ranks of a job.
func (s *testServer) workers(size int) []Options {
	var all []Options
	for rank := range size {
		all = append(all, s.worker(rank, size))
	}
	return all
}

func closeAll(sessions ...*Session) {
	var wg sync.WaitGroup
	for _, s := range sessions {
		wg.Go(func() { s.Close() })
	}
	wg.Wait()
}

func leaveAll(t *testing.T, sessions ...*Session) {
	t.Helper()
	var wg sync.WaitGroup
	for _, s := range sessions {
		wg.Go(func() {
			if err := s.Leave(t.Context()); err != nil {
				t.Errorf("rank %d leaves: %v", s.Membership().Rank, err)
			}
		})
	}
	wg.Wait()
}

// wait fails the test if c is not closed within 10 s.
func wait(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	select {
	case <-c:
	case <-ctx.Done():
		t.Fatalf("%s: nothing for 10 s", what)
	}
}

// pipeListener is a listener in memory.
type pipeListener struct {
	conns chan net.Conn
	once  sync.Once
	gone  chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), gone: make(chan struct{})}
}

func (p *pipeListener) dial(ctx context.Context, _ string) (net.Conn, error) {
	mine, its := net.Pipe()
	select {
	case p.conns <- pipeServerEnd{its}:
		return &pipeEnd{Conn: mine}, nil
	case <-p.gone:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.gone:
		return nil, net.ErrClosed
	}
}

func (p *pipeListener) Close() error {
	p.once.Do(func() { close(p.gone) })
	return nil
}

func (p *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 29400} }

// pipeServerEnd is the rendezvous' end of a pipe.
type pipeServerEnd struct{ net.Conn }

func (pipeServerEnd) RemoteAddr() net.Addr { return (*pipeEnd)(nil).LocalAddr() }

// pipeEnd is a worker's end of a pipe. A cut pipe drops all bytes in both directions without an
// error, as a network does. A mute pipe drops the bytes of the worker only.
type pipeEnd struct {
	net.Conn
	cut, mute atomic.Bool
}

func (p *pipeEnd) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 5} }

func (p *pipeEnd) Write(b []byte) (int, error) {
	if p.cut.Load() || p.mute.Load() {
		return len(b), nil
	}
	return p.Conn.Write(b)
}

func (p *pipeEnd) Read(b []byte) (int, error) {
	for {
		n, err := p.Conn.Read(b)
		if err != nil || !p.cut.Load() {
			return n, err
		}
	}
}
