package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/token"
)

// A relay stands between two TLS connections of its own: the dialer's, with the relay's
// certificate, and one to the port that was dialled. It passes the request on, as it is or changed.
// A switched-off relay passes bytes below TLS.
type relay struct {
	config *tls.Config

	mu       sync.Mutex
	on       [2]bool        // for connections to the port of each rank
	seen     map[string]int // requests, by purpose and change
	inClear  int            // connections without TLS
	answers  []string       // what came back for a request: nothing should
	passages map[*passage]bool
}

// relayed are the changes of a request: the offset of a byte in it, and what is done to it.
var relayed = []struct {
	name   string
	change func(body []byte)
}{
	{"as it is", func([]byte) {}},
	{"purpose", func(b []byte) {
		if b[relayPurpose] == byte(token.Control) {
			b[relayPurpose] = byte(token.Status)
		} else {
			b[relayPurpose] = byte(token.Control)
		}
	}},
	{"rank", func(b []byte) { b[relayRank]++ }},
	{"job", func(b []byte) { b[len(b)-3]++ }}, // the last letter: no data follows
}

// Offsets in the body of a request; see ring/PROTOCOL.md.
const (
	relayID      = 4
	relayPurpose = relayID + 2
	relayRank    = relayID + 4
)

func newRelay(t *testing.T) *relay {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &relay{
		config: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}},
		seen:   map[string]int{}, passages: map[*passage]bool{},
	}
}

// turn switches the relay on or off for the port of each rank. It ends the connections to a port
// for which this is a change.
func (r *relay) turn(on [2]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.passages {
		if r.on[p.to] != on[p.to] {
			p.dialer.Close()
			p.target.Close()
		}
	}
	r.on = on
}

// pass relays a connection, or passes it on as it is.
func (r *relay) pass(p *passage) {
	r.mu.Lock()
	on := r.on[p.to]
	r.passages[p] = true
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.passages, p)
	}()
	if !on {
		p.asIs()
		return
	}
	first := bufio.NewReader(p.dialer)
	if head, err := first.Peek(1); err != nil || head[0] != 0x16 {
		r.mu.Lock()
		r.inClear++
		r.mu.Unlock()
		p.both(func(dst, _ net.Conn) { io.Copy(dst, first) }, p.copyAsIs)
		return
	}
	in := tls.Server(readAhead{p.dialer, first}, r.config)
	out := tls.Client(p.target, &tls.Config{InsecureSkipVerify: true})
	r.request(in, out)
	in.Close()
	out.Close()
}

// readAhead is a connection of which a reader has read.
type readAhead struct {
	net.Conn
	r io.Reader
}

func (a readAhead) Read(b []byte) (int, error) { return a.r.Read(b) }

// request passes on a request, and then all that follows.
func (r *relay) request(in, out *tls.Conn) {
	head := make([]byte, 3)
	if _, err := io.ReadFull(in, head); err != nil {
		return
	}
	body := make([]byte, binary.LittleEndian.Uint16(head[1:])) // without the proof, which follows
	if _, err := io.ReadFull(in, body); err != nil {
		return
	}
	if len(body) < relayRank+8 {
		return
	}
	what := r.note(body)
	if _, err := out.Write(append(head, body...)); err != nil {
		return
	}
	go io.Copy(out, in)
	back := make([]byte, 1<<10)
	n, _ := out.Read(back)
	if n == 0 {
		return
	}
	r.mu.Lock()
	r.answers = append(r.answers, fmt.Sprintf("%s: %d bytes of kind %d", what, n, back[0]))
	r.mu.Unlock()
	in.Write(back[:n])
	io.Copy(in, out)
}

// note counts a request and changes it, each in another way than the one before of its purpose.
func (r *relay) note(body []byte) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	purpose := token.Purpose(body[relayPurpose]).String()
	n := 0
	for key, times := range r.seen {
		if strings.HasPrefix(key, purpose+" ") {
			n += times
		}
	}
	c := relayed[n%len(relayed)]
	what := purpose + " " + c.name
	r.seen[what]++
	c.change(body)
	return what
}

// tried returns whether requests of a purpose were relayed with every change.
func (r *relay) tried(purpose token.Purpose) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range relayed {
		if r.seen[purpose.String()+" "+c.name] == 0 && r.inClear == 0 {
			return false
		}
	}
	return true
}

// judge fails the test if a relayed request was answered.
func (r *relay) judge(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Logf("relayed: %v", r.seen)
	if r.inClear > 0 {
		t.Errorf("%d connections use no TLS", r.inClear)
	}
	if len(r.answers) > 0 {
		t.Errorf("relayed requests were answered: %q", r.answers)
	}
}

// TestAttackRelay relays the status, joins, resumes and links of a job between two TLS
// connections. It verifies that nobody answers a relayed request, and that the job starts, and goes
// on, as soon as the relay ends, with the digest of an undisturbed one.
func TestAttackRelay(t *testing.T) {
	attacks(t)
	key := token.New()
	job := digitsMLP(128, 2000, "--job-id", "relayed", "--set", "allreduce.codec=none", "--set", "log.every=1", "--set", "checkpoint.dir=", "--start-timeout", "2m", "--lease", "60s")
	r := newRelay(t)
	m := newMiddle(t, r.pass)
	want := m.start(newBox(t).lasting(3*time.Minute), key, job...).trained().digest(t)
	tried := func(what string, p token.Purpose) {
		t.Helper()
		eventually(t, patience, "a "+what+" was relayed with each change", func() bool { return r.tried(p) })
	}
	t.Run("what=join", func(t *testing.T) {
		r.turn([2]bool{true, false})
		c := m.start(newBox(t).lasting(3*time.Minute), key, job...)
		tried("join", token.Control)
		if text := c.ranks[0].stdout.String(); strings.Contains(text, `"event":"start"`) {
			t.Errorf("the job has started: %s", text)
		}
		r.turn([2]bool{})
		if got := c.trained().digest(t); got != want {
			t.Errorf("digest %s, want %s", got, want)
		}
		r.judge(t)
	})
	t.Run("what=link", func(t *testing.T) {
		r.turn([2]bool{false, true})
		c := m.start(newBox(t).lasting(3*time.Minute), key, job...)
		tried("link", token.Link)
		if text := c.ranks[0].stdout.String(); strings.Contains(text, `"event":"step"`) {
			t.Errorf("the job has trained: %s", text)
		}
		r.turn([2]bool{})
		if got := c.trained().digest(t); got != want {
			t.Errorf("digest %s, want %s", got, want)
		}
		r.judge(t)
	})
	t.Run("what=resume and status", func(t *testing.T) {
		c := m.start(newBox(t).lasting(3*time.Minute), key, m.endless(job)...)
		c.ranks[0].await(`"event":"step"`)
		r.reset()
		r.turn([2]bool{true, false}) // ends the control stream, and link 1 -> 0
		tried("resume", token.Control)
		b := newBox(t).with("RINGTRAIN_TOKEN=" + key.Reveal())
		for range relayed {
			line := m.hosts[1].Command(self(b), "status", m.address(0), "--json")
			if e := b.startProgram(line[0], line[1:]...).wait(); e.code != 138 || strings.Contains(e.stdout, "job_id") {
				t.Errorf("a relayed status ends with %d and %q", e.code, e.stdout)
			}
		}
		tried("status", token.Status)
		r.turn([2]bool{})
		c.ranks[0].stepAfter(t, time.Now())
		for _, p := range c.ranks {
			p.signal(syscall.SIGTERM)
		}
		for rank, p := range c.ranks {
			if e := p.wait(); e.code != 143 {
				t.Errorf("rank %d ended with %d, want 143\n%s", rank, e.code, withoutSteps(e.stderr))
			}
		}
		r.judge(t)
	})
}

// reset forgets what was seen.
func (r *relay) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = map[string]int{}
}

// endless returns the job without an end.
func (m *middle) endless(job []string) []string {
	return append(append([]string{}, job...), "--set", fmt.Sprintf("train.steps=%d", forever))
}
