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

// memListener is a listener in memory for a synctest bubble.
type memListener struct {
	conns chan net.Conn
	done  chan struct{}
	close sync.Once
	errs  chan error // errors for Accept to return
}

func newMemListener() *memListener {
	return &memListener{conns: make(chan net.Conn), done: make(chan struct{}), errs: make(chan error)}
}

func (l *memListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case err := <-l.errs:
		return nil, err
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memListener) Close() error {
	l.close.Do(func() { close(l.done) })
	return nil
}

func (l *memListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7} }

// dial connects and sends a text.
func (l *memListener) dial(t *testing.T, say string) net.Conn {
	t.Helper()
	near, far := net.Pipe()
	l.conns <- far
	near.Write([]byte(say)) // an error shows in a later read
	return near
}

// closedAfter returns the time until the other side closes c.
func closedAfter(c net.Conn) time.Duration {
	start := time.Now()
	c.Read(make([]byte, 1))
	return time.Since(start)
}

// inBubble runs test with a port on an in-memory listener and a fake clock.
func inBubble(t *testing.T, test func(t *testing.T, l *memListener, p *Port)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := newMemListener()
		p := serve(l)
		defer p.Close()
		test(t, l, p)
	})
}

// TestKinds verifies that a connection comes out of the right listener, with the bytes that
// name its kind.
func TestKinds(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
		for first, lis := range map[string]net.Listener{"PRI ": p.GRPC(), "RTL\x02": p.Links()} {
			near, far := net.Pipe()
			l.conns <- far
			go func() {
				for _, b := range []byte(first + "and more") { // one byte at a time
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

// TestStrangers verifies that a connection of another kind is closed at once, and a silent one
// after 5 s.
func TestStrangers(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
		tests := []struct {
			say  string
			want time.Duration
		}{{"GET ", 0}, {"RTL\x01", 0}, {"RTL", kindTimeout}, {"", kindTimeout}}
		for _, tt := range tests {
			if got := closedAfter(l.dial(t, tt.say)); got != tt.want {
				t.Errorf("say=%q: closed after %v, want %v", tt.say, got, tt.want)
			}
		}
	})
}

// TestPending verifies that at most 256 connections are pending, and that later connections are
// served once these have timed out.
func TestPending(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
		for range maxPending {
			l.dial(t, "")
		}
		if got := closedAfter(l.dial(t, "")); got != 0 {
			t.Errorf("number 257 was closed after %v, want at once", got)
		}
		time.Sleep(kindTimeout)
		synctest.Wait()
		l.dial(t, magicLink)
		if _, err := p.Links().Accept(); err != nil {
			t.Error(err)
		}
	})
}

// TestQueue verifies that unaccepted connections of a kind are bounded, and that they do not
// block the other kind.
func TestQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
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

// TestClose verifies that Close leaves no connection open, no Accept waiting and no goroutine
// running: the bubble would not end.
func TestClose(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
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

// TestOneKindCloses verifies that closing one kind, as a gRPC server does when it stops, does
// not end the other.
func TestOneKindCloses(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
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

// TestDeadline verifies that Accept follows the rules of package net, which tcplink relies on
// to end its wait.
func TestDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
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
			q.SetDeadline(time.Time{}) // removed while Accept waits
			time.Sleep(time.Hour)
			l.dial(t, magicLink)
		}()
		if _, err := q.Accept(); err != nil {
			t.Errorf("without deadline: %v", err)
		}
	})
}

// TestAcceptFails verifies that a port that runs out of file descriptors serves again later,
// and pauses between its attempts.
func TestAcceptFails(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
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

// TestSocketEarly verifies that Socket panics while bytes that were read ahead could be lost.
func TestSocketEarly(t *testing.T) {
	defer func() {
		if fault := recover(); fault != "port: socket taken before its first bytes were read" {
			t.Errorf("panic %v, want that the first bytes are not read", fault)
		}
	}()
	(&Conn{}).Socket()
}
