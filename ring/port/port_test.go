package port

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pipes is a listener in memory, at home in a synctest bubble.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	close sync.Once
	errs  chan error // what Accept returns now and then
}

func newPipes() *pipes {
	return &pipes{conns: make(chan net.Conn), done: make(chan struct{}), errs: make(chan error)}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case err := <-l.errs:
		return nil, err
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	l.close.Do(func() { close(l.done) })
	return nil
}

func (l *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7} }

// dial connects and says something.
func (l *pipes) dial(t *testing.T, say string) net.Conn {
	t.Helper()
	near, far := net.Pipe()
	l.conns <- far
	near.Write([]byte(say)) // fails if the port has closed it: seen by who reads
	return near
}

// closedAfter tells how long it takes until the other side closes c.
func closedAfter(c net.Conn) time.Duration {
	start := time.Now()
	c.Read(make([]byte, 1))
	return time.Since(start)
}

// inBubble runs test with a port on an in-memory listener and a fake clock.
func inBubble(t *testing.T, test func(t *testing.T, l *pipes, p *Port)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := newPipes()
		p := serve(l)
		defer p.Close()
		test(t, l, p)
	})
}

// TestKinds fails if a connection comes out of the wrong listener, or without
// the bytes by which it was told apart.
func TestKinds(t *testing.T) {
	inBubble(t, func(t *testing.T, l *pipes, p *Port) {
		for first, lis := range map[string]net.Listener{"PRI ": p.GRPC(), "RTL\x01": p.Links()} {
			near, far := net.Pipe()
			l.conns <- far
			go func() {
				for _, b := range []byte(first + "and more") { // byte by byte: the worst network
					near.Write([]byte{b})
				}
				near.Close()
			}()
			c, err := lis.Accept()
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(c)
			if string(got) != first+"and more" || err != nil {
				t.Errorf("read %q, %v, want %q", got, err, first+"and more")
			}
			if c.(*Conn).Socket() != far {
				t.Error("the socket below is not the accepted one")
			}
		}
	})
}

// TestStrangers fails if a connection that shows something else, or shows
// nothing for 5 s, is kept.
func TestStrangers(t *testing.T) {
	inBubble(t, func(t *testing.T, l *pipes, p *Port) {
		tests := []struct {
			say  string
			want time.Duration
		}{{"GET ", 0}, {"RTL\x02", 0}, {"RTL", showTimeout}, {"", showTimeout}}
		for _, tt := range tests {
			if got := closedAfter(l.dial(t, tt.say)); got != tt.want {
				t.Errorf("say=%q: closed after %v, want %v", tt.say, got, tt.want)
			}
		}
	})
}

// TestCrowd fails if more than 256 silent connections are kept, or if they keep
// a later one out when their time is over.
func TestCrowd(t *testing.T) {
	inBubble(t, func(t *testing.T, l *pipes, p *Port) {
		for range maxUnknown {
			l.dial(t, "")
		}
		if got := closedAfter(l.dial(t, "")); got != 0 {
			t.Errorf("number 257 was closed after %v, want at once", got)
		}
		time.Sleep(showTimeout)
		synctest.Wait()
		l.dial(t, magicLink)
		if _, err := p.Links().Accept(); err != nil {
			t.Error(err)
		}
	})
}

// TestQueue fails if connections that nobody accepts pile up, or if those of
// one kind keep the other kind out.
func TestQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, l *pipes, p *Port) {
		for range maxQueued {
			l.dial(t, magicHTTP2)
		}
		synctest.Wait()
		if got := closedAfter(l.dial(t, magicHTTP2)); got != 0 {
			t.Errorf("number 129 was closed after %v, want at once", got)
		}
		l.dial(t, magicLink)
		if _, err := p.Links().Accept(); err != nil {
			t.Error(err)
		}
	})
}

// TestClose fails if Close leaves a connection open, an Accept waiting or a
// goroutine running: the bubble would not end.
func TestClose(t *testing.T) {
	inBubble(t, func(t *testing.T, l *pipes, p *Port) {
		silent, queued := l.dial(t, "RT"), l.dial(t, magicLink)
		synctest.Wait()
		ended := make(chan error)
		go func() {
			_, err := p.GRPC().Accept()
			ended <- err
		}()
		synctest.Wait()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("pending accept: error %v, want net.ErrClosed", err)
		}
		for name, c := range map[string]net.Conn{"silent": silent, "queued": queued} {
			if got := closedAfter(c); got != 0 {
				t.Errorf("%s connection was closed after %v, want at once", name, got)
			}
		}
		for _, lis := range []net.Listener{p.GRPC(), p.Links()} {
			if _, err := lis.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("accept: error %v, want net.ErrClosed", err)
			}
		}
		if err := p.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
	})
}

// TestOneKindCloses fails if closing one kind, as a gRPC server does when it
// stops, ends the other.
func TestOneKindCloses(t *testing.T) {
	inBubble(t, func(t *testing.T, l *pipes, p *Port) {
		p.GRPC().Close()
		if got := closedAfter(l.dial(t, magicHTTP2)); got != 0 {
			t.Errorf("closed after %v, want at once", got)
		}
		l.dial(t, magicLink)
		if _, err := p.Links().Accept(); err != nil {
			t.Error(err)
		}
	})
}

// TestDeadline fails if Accept does not follow the rules of package net: tcplink
// ends its wait that way.
func TestDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T, l *pipes, p *Port) {
		q := p.Links().(*queue)
		start := time.Now()
		for _, wait := range []time.Duration{-time.Second, 0, 3 * time.Second} {
			q.SetDeadline(time.Now().Add(wait))
			if _, err := q.Accept(); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("wait=%v: error %v, want os.ErrDeadlineExceeded", wait, err)
			}
		}
		if got := time.Since(start); got != 3*time.Second {
			t.Errorf("three deadlines took %v, want 3s", got)
		}
		q.SetDeadline(time.Now().Add(time.Second))
		go func() {
			time.Sleep(time.Second / 2)
			q.SetDeadline(time.Time{}) // taken back while Accept waits
			time.Sleep(time.Hour)
			l.dial(t, magicLink)
		}()
		if _, err := q.Accept(); err != nil {
			t.Errorf("without deadline: %v", err)
		}
	})
}

// TestAcceptFails fails if a port that is out of file descriptors for a while
// never serves again, or spins until then.
func TestAcceptFails(t *testing.T) {
	inBubble(t, func(t *testing.T, l *pipes, p *Port) {
		start := time.Now()
		for range 20 {
			l.errs <- errors.New("too many open files")
		}
		if took := time.Since(start); took < 10*time.Second || took > 20*time.Second {
			t.Errorf("20 failures took %v, want pauses that grow to 1s", took)
		}
		l.dial(t, magicLink)
		if _, err := p.Links().Accept(); err != nil {
			t.Error(err)
		}
	})
}

// TestSocketEarly fails if bytes that were read ahead can get lost.
func TestSocketEarly(t *testing.T) {
	defer func() {
		if fault := recover(); fault != "port: socket taken before its first bytes were read" {
			t.Errorf("panic %v, want that the first bytes are not read", fault)
		}
	}()
	(&Conn{}).Socket()
}
