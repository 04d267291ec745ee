package token

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/exitcode"
)

// ask is a request with a value of its own in every field.
func ask() Request {
	return Request{
		Purpose: Link, JobID: "mnist", From: End{Rank: 3, Incarnation: 7}, To: End{Rank: 4, Incarnation: 8},
		Fence: [FenceBytes]byte{1, 2, 31: 9}, Stream: 2, Data: []byte("data"),
	}
}

// acceptFunc runs the acceptor's part over a socket.
type acceptFunc func(net.Conn, Token) (*Conn, error)

// ways are the two ways of an exchange.
func ways(t *testing.T) map[string]struct {
	dial   func(Token, context.Context, net.Conn, Request) (*Conn, Answer, error)
	accept acceptFunc
} {
	id, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	type way = struct {
		dial   func(Token, context.Context, net.Conn, Request) (*Conn, Answer, error)
		accept acceptFunc
	}
	return map[string]way{
		"tls":   {Token.DialTLS, id.AcceptTLS},
		"clear": {Token.DialClear, func(c net.Conn, t Token) (*Conn, error) { return t.AcceptClear(c) }},
	}
}

// sockets returns both ends of a TCP connection, which the test closes.
func sockets(t *testing.T) (dialer, acceptor net.Conn) {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	if dialer, err = net.Dial("tcp", lis.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if acceptor, err = lis.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialer.Close(); acceptor.Close() })
	return dialer, acceptor
}

// accepted is the result of the acceptor's part.
type accepted struct {
	conn *Conn
	err  error
}

// serveOnce runs the acceptor's part and answers a.
func serveOnce(accept acceptFunc, socket net.Conn, t Token, a Answer) <-chan accepted {
	done := make(chan accepted, 1)
	go func() {
		c, err := accept(socket, t)
		if err == nil {
			err = c.Answer(a)
		} else {
			socket.Close()
		}
		done <- accepted{c, err}
	}()
	return done
}

// TestExchange verifies that both sides get what the other says, and that the connection carries
// bytes afterwards, also over a replaced socket.
func TestExchange(t *testing.T) {
	for name, way := range ways(t) {
		t.Run("way="+name, func(t *testing.T) {
			secret := New()
			near, far := sockets(t)
			done := serveOnce(way.accept, far, secret, Answer{Data: []byte("four")})
			c, a, err := way.dial(secret, t.Context(), near, ask())
			if err != nil || string(a.Data) != "four" {
				t.Fatalf("answer is %+v, %v", a, err)
			}
			there := <-done
			want := ask()
			want.Protocol = Protocol
			if there.err != nil || !equal(there.conn.Request, want) {
				t.Fatalf("request is %+v, %v, want %+v", there.conn.Request, there.err, want)
			}
			if secure := name == "tls"; c.Secure() != secure || there.conn.Secure() != secure || c.Socket() != near {
				t.Errorf("secure: %v and %v, want %v; or another socket", c.Secure(), there.conn.Secure(), secure)
			}
			replaced := &recorder{Conn: far}
			there.conn.SetSocket(replaced)
			go c.Write([]byte("frames"))
			got := make([]byte, 6)
			if _, err := io.ReadFull(there.conn, got); err != nil || string(got) != "frames" || len(replaced.head) == 0 {
				t.Errorf("read %q, %v, and %d bytes through the replaced socket", got, err, len(replaced.head))
			}
		})
	}
}

func equal(a, b Request) bool {
	one, err := a.body()
	other, err2 := b.body()
	return err == nil && err2 == nil && bytes.Equal(one, other) && a.Protocol == b.Protocol
}

// TestRefusal verifies that a proved refusal reaches the dialer with its reason and its code.
func TestRefusal(t *testing.T) {
	for name, way := range ways(t) {
		t.Run("way="+name, func(t *testing.T) {
			near, far := sockets(t)
			done := serveOnce(way.accept, far, Token{}, Refuse(errors.New("life is \x1b1")))
			_, _, err := way.dial(Token{}, t.Context(), near, ask())
			if exitcode.Of(err) != exitcode.Retry || err.Error() != "refused: life is ?1" {
				t.Errorf("error is %v with code %d", err, exitcode.Of(err))
			}
			<-done
		})
	}
}

// TestOtherToken verifies that both sides learn the id of the other's token, and nothing else.
func TestOtherToken(t *testing.T) {
	for name, way := range ways(t) {
		t.Run("way="+name, func(t *testing.T) {
			one, other := New(), New()
			near, far := sockets(t)
			done := serveOnce(way.accept, far, other, Answer{})
			_, _, err := way.dial(one, t.Context(), near, ask())
			if w, ok := errors.AsType[*WrongTokenError](err); !ok || w.Here != one.ID() || w.There != other.ID() {
				t.Errorf("dialer: error is %v, want that the token is %v, here %v", err, other.ID(), one.ID())
			}
			there := <-done
			if w, ok := errors.AsType[*WrongTokenError](there.err); !ok || w.Here != other.ID() || w.There != one.ID() {
				t.Errorf("acceptor: error is %v, want that the token is %v, here %v", there.err, one.ID(), other.ID())
			}
		})
	}
}

// TestRelay verifies that a proof is worth nothing on another channel: who stands between two TLS
// connections of its own cannot pass a request on, as it is or changed. With one channel for all
// connections, as without the exporter, the relay gets in: the test would see it.
func TestRelay(t *testing.T) {
	id, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]func([]byte){
		"nothing": func([]byte) {},
		"purpose": func(b []byte) { b[len(ID{})+2] = byte(Control) },
		"rank":    func(b []byte) { b[len(ID{})+4]++ },
		"job":     func(b []byte) { b[len(b)-8]++ },
	}
	for name, change := range changes {
		for _, exported := range []bool{true, false} {
			t.Run("changed="+name+map[bool]string{true: "", false: "/mutant"}[exported], func(t *testing.T) {
				secret := New()
				near, relayFar := sockets(t)
				relayNear, far := sockets(t)
				go func() { // the dialer, which is asked by the relay's certificate
					c, err := newClient(near)
					if err != nil {
						return
					}
					c.token, c.Request = secret, ask()
					if !exported {
						c.channel = nil
					}
					c.ask()
				}()
				in, err := newSecure(tls.Server(relayFar, id.config), &Wire{relayFar})
				if err != nil {
					t.Fatal(err)
				}
				kind, body, proof, err := in.read()
				if err != nil {
					t.Fatal(err)
				}
				change(body)
				done := make(chan error, 1)
				go func() {
					c, err := newSecure(tls.Server(far, id.config), &Wire{far})
					if err == nil {
						if !exported {
							c.channel = nil
						}
						err = c.accept(secret)
					}
					done <- err
				}()
				out, err := newClient(relayNear)
				if err == nil {
					err = out.write(kind, body, proof)
				}
				if err != nil {
					t.Fatal(err)
				}
				let := <-done == nil
				if want := !exported && name == "nothing"; let != want {
					t.Errorf("the relay gets in: %v, want %v", let, want)
				}
			})
		}
	}
}

// TestForeign verifies the reason if another program listens: its first bytes, or that it closes.
func TestForeign(t *testing.T) {
	for say, want := range map[string]string{
		"HTTP/1.1 400 Bad Request\r\n": `speaks no TLS: begins with "HTTP/1.1 400 Bad"`,
		"SSH-2.0-x\x1b\r\n":            `speaks no TLS: begins with "SSH-2.0-x???"`,
		"":                             "closed the connection before a word: another program, or a ringtrain of protocol 2, here 3",
	} {
		near, far := sockets(t)
		go func() {
			far.Read(make([]byte, 1<<12)) // unread bytes would reset the connection
			io.WriteString(far, say)
			far.(*net.TCPConn).CloseWrite()
		}()
		if _, _, err := New().DialTLS(t.Context(), near, ask()); err == nil || err.Error() != want {
			t.Errorf("say=%q: error is %v, want %q", say, err, want)
		}
	}
}

// TestSilent verifies that a dialer waits no longer than its context, and closes the socket.
func TestSilent(t *testing.T) {
	for name, way := range ways(t) {
		near, _ := sockets(t)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, _, err := way.dial(New(), ctx, near, ask())
		cancel()
		if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("way=%s: error is %v, want the end of the context", name, err)
		}
		if _, err := near.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("way=%s: the socket is open", name)
		}
	}
}

// TestOtherProtocol verifies that a proved request of another version is refused with
// exitcode.Protocol and both versions, on both sides.
func TestOtherProtocol(t *testing.T) {
	secret := New()
	near, far := sockets(t)
	done := serveOnce(func(c net.Conn, t Token) (*Conn, error) { return t.AcceptClear(c) }, far, secret, Answer{})
	c, err := newClearClient(near)
	if err != nil {
		t.Fatal(err)
	}
	c.token, c.asked = secret, []byte{9, 0, 1, 2, 3}
	id, proof := secret.ID(), secret.Prove([]byte(dialerLabel), c.channel, c.asked)
	if err := c.write(kindRequest, append(id[:], c.asked...), proof[:]); err != nil {
		t.Fatal(err)
	}
	kind, body, proved, err := c.read()
	if err != nil || kind != kindAnswer || !secret.Proves(proved, []byte(acceptorLabel), c.channel, c.asked, body) {
		t.Fatalf("answer of kind %d is not proved: %v", kind, err)
	}
	a, err := parseAnswer(body)
	if err != nil || a.Status != exitcode.Protocol || a.Text != "a ringtrain of protocol 3, here 9" {
		t.Errorf("answer is %+v, %v", a, err)
	}
	if err := (<-done).err; exitcode.Of(err) != exitcode.Protocol || !strings.Contains(err.Error(), "a ringtrain of protocol 9, here 3") {
		t.Errorf("acceptor: error is %v", err)
	}
}

// TestLongJobID verifies that a job id that no message can hold is a usage error of the dialer.
func TestLongJobID(t *testing.T) {
	near, _ := sockets(t)
	r := ask()
	r.JobID = strings.Repeat("x", MaxJobIDBytes+1)
	go io.Copy(io.Discard, near)
	if _, err := r.body(); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error is %v with code %d, want exitcode.Usage", err, exitcode.Of(err))
	}
}

// FuzzRequest verifies that a parsed request has the bytes that it was parsed from.
func FuzzRequest(f *testing.F) {
	r := ask()
	b, err := r.body()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:20])
	f.Add([]byte{9, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseRequest(b)
		if err != nil || r.Protocol != Protocol {
			return
		}
		if again, err := r.body(); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%x becomes %x, %v", b, again, err)
		}
	})
}

// FuzzAnswer verifies that an answer's text is printable and bounded.
func FuzzAnswer(f *testing.F) {
	a := Answer{Status: 138, Text: "no\nroom", Data: []byte("data")}
	f.Add(a.body())
	f.Add([]byte{0, 0, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseAnswer(b)
		if err == nil && (strings.ContainsAny(a.Text, "\n\x1b\u0085\u2028\u202e") || len(a.Data) > MaxDataBytes+MaxJobIDBytes) {
			t.Errorf("answer is %+v", a)
		}
	})
}

// FuzzHello verifies that no bytes of a stranger, in two pieces, make an acceptor panic, wait for
// ever, or take it in.
func FuzzHello(f *testing.F) {
	id, err := NewIdentity()
	if err != nil {
		f.Fatal(err)
	}
	secret := New()
	f.Add([]byte("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03"), []byte("\x03"))
	f.Add([]byte(Preamble), bytes.Repeat([]byte{7}, 80))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for name, accept := range map[string]acceptFunc{"tls": id.AcceptTLS, "clear": func(c net.Conn, t Token) (*Conn, error) { return t.AcceptClear(c) }} {
			near, far := net.Pipe()
			go func() {
				near.Write(first)
				near.Write(second)
				near.Close()
			}()
			go io.Copy(io.Discard, near)
			if _, err := accept(far, secret); err == nil {
				t.Errorf("way=%s: a stranger was taken in", name)
			}
			far.Close()
		}
	})
}
