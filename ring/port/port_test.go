package port

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
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

// pipe is one end of a connection in memory that comes from an address.
type pipe struct {
	net.Conn
	from net.Addr
}

func (p pipe) RemoteAddr() net.Addr { return p.from }

// dial connects from an address and sends a text.
func (l *memListener) dial(from, say string) net.Conn {
	near, far := net.Pipe()
	l.conns <- pipe{far, &net.TCPAddr{IP: net.ParseIP(from), Port: 9}}
	near.Write([]byte(say)) // an error shows in a later read
	return near
}

// ask connects and runs the dialer's part of an exchange.
func (l *memListener) ask(t *testing.T, secret token.Token, purpose token.Purpose) (*token.Conn, token.Answer, error) {
	t.Helper()
	none := token.End{Rank: -1}
	return secret.DialTLS(t.Context(), l.dial("10.0.0.1", ""), token.Request{Purpose: purpose, JobID: "mnist", From: none, To: none})
}

// pipeFrom returns the acceptor's end of a connection from an address.
func (l *memListener) pipeFrom(from string) net.Conn {
	_, far := net.Pipe()
	return pipe{far, &net.TCPAddr{IP: net.ParseIP(from), Port: 9}}
}

// resetConn is a connection that its dialer has reset.
type resetConn struct{ net.Conn }

func (resetConn) Read([]byte) (int, error) { return 0, syscall.ECONNRESET }

// proveProtocol sends a proved request of another protocol over c, and reads the answer.
func proveProtocol(c net.Conn, protocol uint16) error {
	conn := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	if err := conn.Handshake(); err != nil {
		return err
	}
	state := conn.ConnectionState()
	channel, err := state.ExportKeyingMaterial("EXPORTER-Channel-Binding", nil, 32)
	if err != nil {
		return err
	}
	asked := binary.LittleEndian.AppendUint16(nil, protocol)
	id, proof := secret.ID(), secret.Prove([]byte("ringtrain dialer"), channel, asked)
	message := slices.Concat([]byte{1, byte(len(id) + len(asked)), 0}, id[:], asked, proof[:])
	if _, err := conn.Write(message); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1<<10))
	return err
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
		p, err := Serve(l, secret)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		test(t, l, p)
	})
}

// secret is the token of the tests' ports.
var secret = token.New()

// TestPurposes verifies that a proved connection comes out of the queue of its purpose, a link's with
// its request not answered, and that the port itself says whose it is.
func TestPurposes(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
		owner := Owner{JobID: "mnist", Rank: 3, Incarnation: 7, Follows: 8}
		p.SetOwner(func() Owner { return owner })
		grpc, links := p.GRPC(), p.Links()
		for _, purpose := range []token.Purpose{token.Control, token.Status} {
			if _, a, err := l.ask(t, secret, purpose); err != nil {
				t.Errorf("%v: answer is %+v, %v", purpose, a, err)
			}
			if c, err := grpc.Accept(); err != nil || c.(*token.Conn).Request.Purpose != purpose {
				t.Errorf("%v: accepted %v, %v", purpose, c, err)
			}
		}
		go func() {
			c, err := links.Take(t.Context())
			if err == nil {
				time.Sleep(4 * time.Second) // within the dialer's time
				c.Answer(token.Answer{Data: []byte("later")})
			}
		}()
		if _, a, err := l.ask(t, secret, token.Link); err != nil || string(a.Data) != "later" {
			t.Errorf("link: answer is %+v, %v", a, err)
		}
		if got, err := Ask(t.Context(), l.dial("10.0.0.1", ""), secret); err != nil || got != owner {
			t.Errorf("owner is %+v, %v, want %+v", got, err, owner)
		}
	})
}

// TestNobodyAccepts verifies that a purpose that nobody serves here is refused with who has the port:
// before the first call of GRPC or Links, and after a queue is closed.
func TestNobodyAccepts(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
		p.SetOwner(func() Owner { return Owner{JobID: "mnist", Rank: 3} })
		closed := p.Links()
		closed.Close()
		for purpose, want := range map[token.Purpose]string{
			token.Control: `refused: is the port of rank 3 of job "mnist", not of a rendezvous`,
			token.Link:    `refused: is the port of rank 3 of job "mnist", not of a rank that forms its ring`,
		} {
			if _, _, err := l.ask(t, secret, purpose); exitcode.Of(err) != exitcode.Retry || err.Error() != want {
				t.Errorf("%v: error is %v, want %q", purpose, err, want)
			}
		}
	})
}

// TestClear verifies that a connection in clear may be a link's only.
func TestClear(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
		p.GRPC()
		_, _, err := secret.DialClear(t.Context(), l.dial("10.0.0.1", ""), token.Request{Purpose: token.Control})
		if err == nil || err.Error() != "refused: control wants TLS" {
			t.Errorf("error is %v", err)
		}
		links := p.Links()
		go func() {
			if c, err := links.Take(t.Context()); err == nil {
				c.Answer(token.Answer{})
			}
		}()
		if c, _, err := secret.DialClear(t.Context(), l.dial("10.0.0.1", ""), token.Request{Purpose: token.Link}); err != nil || c.Secure() {
			t.Errorf("link: error is %v", err)
		}
	})
}

// TestStrangers verifies that a connection of another kind is closed at once and a silent one after
// 5 s, and that the port counts those that proved nothing, with their other token: not one that closed
// or reset without a byte, and not one of another protocol that has the token.
func TestStrangers(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
		tests := []struct {
			from, say string
			want      time.Duration
		}{
			{"10.0.0.2", "GET / HTTP/1.1\r\nHost: x\r\n\r\n123", 0},
			{"10.0.0.3", "RTL\x02" + strings.Repeat("x", 40), 0},
			{"10.0.0.4", "\x16\x03", token.Timeout},
			{"::ffff:10.0.0.5", "", token.Timeout},
		}
		for _, tt := range tests {
			if got := closedAfter(l.dial(tt.from, tt.say)); got != tt.want {
				t.Errorf("say=%q: closed after %v, want %v", tt.say, got, tt.want)
			}
		}
		l.dial("10.0.0.6", "").Close()
		l.conns <- resetConn{l.pipeFrom("10.0.0.7")}
		if err := proveProtocol(l.dial("10.0.0.8", ""), token.Protocol+1); err != nil {
			t.Error(err)
		}
		other := token.New()
		for range 2 {
			if _, _, err := l.ask(t, other, token.Link); err == nil {
				t.Error("another token was taken in")
			}
		}
		synctest.Wait()
		s := p.Strangers()
		if s.Closed != 6 || s.Most.String() != "10.0.0.1" || len(s.Known) != 5 {
			t.Errorf("strangers are %+v", s)
		}
		known := map[string]token.ID{}
		for _, k := range s.Known {
			known[k.From.String()] = k.Other
		}
		want := map[string]token.ID{"10.0.0.1": other.ID()}
		for _, tt := range tests {
			want[strings.TrimPrefix(tt.from, "::ffff:")] = token.ID{}
		}
		if !maps.Equal(known, want) {
			t.Errorf("known are %v, want %v", known, want)
		}
	})
}

// TestStrangersOfASocket verifies that strangers at a Unix socket, which have no address, count as those
// of this host.
func TestStrangersOfASocket(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
		near, far := net.Pipe()
		l.conns <- pipe{far, &net.UnixAddr{Net: "unix"}}
		near.Write([]byte("GET /"))
		closedAfter(near)
		synctest.Wait()
		if s := p.Strangers(); s.Closed != 1 || s.Most.String() != "127.0.0.1" {
			t.Errorf("strangers are %+v, want one of 127.0.0.1", s)
		}
	})
}

// TestManyStrangers verifies that a flood of addresses does not hide who comes later with another token.
func TestManyStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Port{strangers: register{known: map[netip.Addr]*Stranger{}}}
		from := netip.MustParseAddr("fd00::1")
		for range 2 * maxKnown {
			p.strangers.add(from, errors.New("closed without a proof"))
			from = from.Next()
			time.Sleep(time.Millisecond)
		}
		other := &token.WrongTokenError{There: token.New().ID()}
		for range 2 {
			p.strangers.add(netip.MustParseAddr("10.0.0.9"), other)
		}
		s := p.Strangers()
		if len(s.Known) != maxKnown || s.Known[0].Other != other.There || s.Known[0].Times != 2 || s.Most != s.Known[0].From || s.Closed != 2*maxKnown+2 {
			t.Errorf("%d are known, the last is %+v; %d closed, most from %v", len(s.Known), s.Known[0], s.Closed, s.Most)
		}
	})
}

// TestSeats verifies that a flood from one address closes its own connections: others keep their
// seats and get in, also those of a second flood from one IPv6 network.
func TestSeats(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
		p.GRPC()
		friend := l.dial("10.0.0.9", "\x16")
		for range 3 * maxSeats {
			l.dial("10.0.0.2", "\x16")
		}
		for i := range 3 * maxSeats {
			l.dial(fmt.Sprintf("fd00::%x", i), "\x16")
		}
		if _, _, err := l.ask(t, secret, token.Status); err != nil {
			t.Errorf("a worker does not get in: %v", err)
		}
		count := map[string]int{}
		p.seats.mu.Lock()
		for _, s := range p.seats.taken {
			count[s.from.String()]++
		}
		p.seats.mu.Unlock()
		if count["10.0.0.9/32"] != 1 || count["10.0.0.2/32"] < maxSeats/2-2 || count["fd00::/64"] < maxSeats/2-2 {
			t.Errorf("seats are %v", count)
		}
		if got := closedAfter(friend); got != token.Timeout {
			t.Errorf("a connection of another address was closed after %v, want %v", got, token.Timeout)
		}
	})
}

// TestTooMuch verifies that a stranger cannot send more than 16 KiB.
func TestTooMuch(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
		c := l.dial("10.0.0.2", "")
		hello := "\x16\x03\x01\x40\x00\x01\x00\x7f\xff" // a client hello of 32 KiB in records of 16 KiB
		n, err := io.WriteString(c, hello+strings.Repeat("\x00", 1<<14))
		synctest.Wait()
		if err == nil || n > maxSeatBytes {
			t.Errorf("sent %d bytes, error %v", n, err)
		}
	})
}

// TestClose verifies that Close leaves no connection open, no Accept waiting and no goroutine
// running: the bubble would not end.
func TestClose(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
		silent := l.dial("10.0.0.2", "\x16")
		links := p.Links()
		refused := make(chan error)
		go func() {
			_, _, err := l.ask(t, secret, token.Link)
			refused <- err
		}()
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
		if err := <-refused; err == nil {
			t.Error("the queued connection is open")
		}
		if got := closedAfter(silent); got != 0 {
			t.Errorf("silent connection was closed after %v, want at once", got)
		}
		if _, err := links.Take(t.Context()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("take: error %v, want net.ErrClosed", err)
		}
		if err := p.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
	})
}

// TestTake verifies that Take ends with its context, and that one connection wakes one of two.
func TestTake(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
		q := p.GRPC()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("late"))
		defer cancel()
		if _, err := q.Take(ctx); err == nil || err.Error() != "late" {
			t.Errorf("error is %v, want the cause of the context", err)
		}
		got := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := q.Accept()
				got <- err
			}()
		}
		for range 2 {
			if _, _, err := l.ask(t, secret, token.Status); err != nil {
				t.Fatal(err)
			}
			if err := <-got; err != nil {
				t.Error(err)
			}
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
		p.GRPC()
		if _, _, err := l.ask(t, secret, token.Status); err != nil {
			t.Error(err)
		}
	})
}
