package handshake

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
)

// testIdentity returns the identity of rank r in a world of three.
func testIdentity(r int, secret token.Token) Identity {
	m := ring.Membership{JobID: "job-1", Generation: 3, Rank: r}
	for i := range 3 {
		m.Workers = append(m.Workers, ring.Worker{Rank: i, Addr: "10.0.0.1:1", Incarnation: uint64(100 + i)})
	}
	return Identity{m, secret}
}

// admitZero expects stream 0 of rank 0.
func admitZero(p Peer) error {
	h := acceptor{from: []Peer{{Rank: 0}}}
	return h.admit(p)
}

// shake runs a handshake between a dialer of rank 0 and an acceptor of rank 1 and returns
// both errors.
func shake(dialer, acceptor Identity) (dialErr, acceptErr error) {
	d, a := net.Pipe()
	ended := make(chan error)
	go func() {
		_, err := acceptor.Accept(a, admitZero)
		a.Close()
		ended <- err
	}()
	dialErr = dialer.Dial(d, Peer{Rank: 1})
	d.Close()
	return dialErr, <-ended
}

func acceptErr(p Identity, c Conn) error {
	_, err := p.Accept(c, admitZero)
	return err
}

// TestShake verifies that two workers of a job connect, with and without token.
func TestShake(t *testing.T) {
	secret := token.New()
	for _, tok := range []token.Token{{}, secret} {
		if d, a := shake(testIdentity(0, tok), testIdentity(1, tok)); d != nil || a != nil {
			t.Errorf("%v: dialer %v, acceptor %v", tok, d, a)
		}
	}
}

// TestRefusals makes each field of the hello wrong once. It verifies that the worker is
// refused, and that both sides learn which two values differ.
func TestRefusals(t *testing.T) {
	tests := []struct {
		name   string
		change func(m *ring.Membership)
		want   string
	}{
		{"job", func(m *ring.Membership) { m.JobID = "job-2" }, `job id is "job-2", want "job-1"`},
		{"life", func(m *ring.Membership) { m.Life[0] = 9 }, "life is 09000000, want 00000000"},
		{"generation", func(m *ring.Membership) { m.Generation = 4 }, "generation is 4, want 3"},
		{"issuer", func(m *ring.Membership) { m.Issuer = 9 }, "generation 3 is of rendezvous 9, want 0"},
		{"from", func(m *ring.Membership) { m.Rank = 2 }, "from rank is 2, want 0"},
		{"dialer", func(m *ring.Membership) { m.Workers[0].Incarnation = 9 }, "incarnation of rank 0 is 0x9, want 0x64"},
		{"acceptor", func(m *ring.Membership) { m.Workers[1].Incarnation = 9 }, "incarnation of rank 1 is 0x9, want 0x65"},
	}
	for _, tt := range tests {
		t.Run("field="+tt.name, func(t *testing.T) {
			secret := token.New()
			dialer := testIdentity(0, secret)
			tt.change(&dialer.Membership)
			d, a := shake(dialer, testIdentity(1, secret))
			for side, err := range map[string]error{"dialer": d, "acceptor": a} {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s's error is %v, want %q", side, err, tt.want)
				}
			}
			if code := exitcode.Of(d); code == exitcode.Auth || code == exitcode.Protocol {
				t.Errorf("dialer's code is %d, want one that lets it try again", code)
			}
		})
	}
}

// TestRefusalsOfRawFields verifies the same of values that no membership can have.
func TestRefusalsOfRawFields(t *testing.T) {
	tests := []struct {
		name   string
		change func(h *hello)
		code   int
		want   string
	}{
		{"version", func(h *hello) { h.version = 3 }, exitcode.Protocol, "protocol version is 3, want 2"},
		{"to", func(h *hello) { h.to = 2 }, exitcode.Failed, "this is rank 1, not rank 2"},
		{"from", func(h *hello) { h.from = 1<<32 - 1 }, exitcode.Failed, "from rank is 4294967295, want 0"},
		{"stream", func(h *hello) { h.stream = 1 }, exitcode.Failed, "stream is 1, want 0"},
	}
	for _, tt := range tests {
		t.Run("field="+tt.name, func(t *testing.T) {
			secret := token.New()
			h := testIdentity(0, secret).hello(0, 1, 0)
			tt.change(&h)
			d, a := net.Pipe()
			ended := make(chan error)
			go func() { ended <- acceptErr(testIdentity(1, secret), a) }()
			d.Write(h.bytes())
			msg, err := readMessage(d, welcomeMagic)
			if err != nil {
				t.Fatal(err)
			}
			w, err := parseWelcome(msg)
			if err != nil {
				t.Fatal(err)
			}
			err = refusalError(int(w.status), w.reason)
			if exitcode.Of(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("dialer's error is %v (code %d), want %q (code %d)", err, exitcode.Of(err), tt.want, tt.code)
			}
			if err := <-ended; err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("acceptor's error is %v, want %q", err, tt.want)
			}
		})
	}
}

// TestTokens verifies that a worker with another token, or without one, is refused and
// learns why.
func TestTokens(t *testing.T) {
	a, b := token.New(), token.New()
	for _, pair := range [][2]token.Token{{a, b}, {a, {}}, {{}, a}} {
		dialErr, acceptErr := shake(testIdentity(0, pair[0]), testIdentity(1, pair[1]))
		if !errors.Is(dialErr, errUnproved) || exitcode.Of(dialErr) != exitcode.Failed {
			t.Errorf("dialer's error is %v, want errUnproved without an exit code", dialErr)
		}
		if acceptErr == nil {
			t.Error("the acceptor let it in")
		}
	}
}

// TestRogueDialer verifies that a dialer without the token is refused, whether it sends a
// proof of its own, the acceptor's proof or an old one.
func TestRogueDialer(t *testing.T) {
	secret := token.New()
	proofs := map[string]func(hello []byte, w welcome) []byte{
		"zero":       func([]byte, welcome) []byte { return make([]byte, ProofBytes) },
		"reflected":  func(_ []byte, w welcome) []byte { return w.proof[:] },
		"other key":  func(h []byte, w welcome) []byte { return proofOf(token.New(), h, w.nonce) },
		"old nonce":  func(h []byte, w welcome) []byte { return proofOf(secret, h, fill(1)) },
		"half of it": func(h []byte, w welcome) []byte { return proofOf(secret, h, w.nonce)[:ProofBytes/2] },
	}
	for name, proof := range proofs {
		t.Run("proof="+name, func(t *testing.T) {
			d, a := net.Pipe()
			ended := make(chan error)
			go func() { ended <- acceptErr(testIdentity(1, secret), a) }()
			h := testIdentity(0, secret).hello(0, 1, 0)
			d.Write(h.bytes())
			msg, err := readMessage(d, welcomeMagic)
			if err != nil {
				t.Fatal(err)
			}
			w, _ := parseWelcome(msg)
			d.Write(proof(h.bytes(), w))
			d.Close()
			if err := <-ended; err == nil {
				t.Error("the rogue got in")
			}
		})
	}
}

func proofOf(secret token.Token, hello []byte, nonce [NonceBytes]byte) []byte {
	p := secret.Prove([]byte(dialerLabel), hello, nonce[:])
	return p[:]
}

// TestRogueAcceptor verifies that a dialer ignores an answer without a proof of the token.
func TestRogueAcceptor(t *testing.T) {
	secret := token.New()
	d, a := net.Pipe()
	defer a.Close()
	ended := make(chan error)
	go func() { ended <- testIdentity(0, secret).Dial(d, Peer{Rank: 1}); d.Close() }()
	if _, err := readMessage(a, helloMagic); err != nil {
		t.Fatal(err)
	}
	a.Write((&welcome{status: exitcode.Protocol, reason: "go away"}).bytes())
	err := <-ended
	if !errors.Is(err, errUnproved) || exitcode.Of(err) != exitcode.Failed || strings.Contains(err.Error(), "go away") {
		t.Errorf("error %v, want errUnproved without the stranger's words and code", err)
	}
}

// counter counts the bytes that are read from it.
type counter struct {
	io.Reader
	taken int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.taken += n
	return n, err
}

func (c *counter) Write(p []byte) (int, error) { return len(p), nil }

// TestGarbage verifies that an acceptor refuses garbage and reads no more of it than a
// message can have.
func TestGarbage(t *testing.T) {
	h := sampleHello.bytes()
	inputs := map[string][]byte{
		"nothing": nil,
		"half":    h[:len(h)/2],
		"prefix":  h[:prefixBytes],
		"http":    []byte("GET / HTTP/1.1\r\nHost: here\r\n\r\n"),
		"huge":    slices.Concat(helloMagic[:], []byte{0xff, 0xff}, make([]byte, 1<<16)),
		"zeros":   make([]byte, 1<<16),
		"short":   slices.Concat(helloMagic[:], []byte{0, 0}),
	}
	for name, in := range inputs {
		t.Run("input="+name, func(t *testing.T) {
			c := &counter{Reader: bytes.NewReader(in)}
			err := acceptErr(testIdentity(1, token.Token{}), c)
			if err == nil || errors.Is(err, io.EOF) {
				t.Errorf("error %v, want one that is not io.EOF", err)
			}
			if c.taken > MaxMessageBytes {
				t.Errorf("read %d bytes, want at most %d", c.taken, MaxMessageBytes)
			}
		})
	}
}

// TestCheck verifies that Check refuses a job id that does not fit a hello.
func TestCheck(t *testing.T) {
	p := testIdentity(0, token.Token{})
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	p.Membership.JobID = strings.Repeat("j", MaxJobIDBytes+1)
	if err := p.Check(); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v, want exitcode.Usage", err)
	}
}

// TestSilence verifies that a deadline of the connection ends a handshake with a silent
// peer.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := net.Pipe()
		defer d.Close()
		a.SetDeadline(time.Now().Add(5 * time.Second))
		if err := acceptErr(testIdentity(1, token.Token{}), a); err == nil {
			t.Error("silence was accepted")
		}
	})
}
