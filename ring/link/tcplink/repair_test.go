package tcplink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/handshake"
	"ringtrain/ring/link/linktest"
)

// The sizes of a handshake in a job named "job-1": a dialer writes helloBytes and proofBytes
// before its first frame, and reads welcomeBytes.
const (
	helloBytes   = 97
	proofBytes   = 32
	welcomeBytes = 92
)

// fault describes how a dialled connection breaks. Counts are in bytes and include the
// handshake.
type fault struct {
	writes, reads int  // the connection breaks after so many bytes written or read; 0: never
	reset         bool // the break is a reset, else an end
	flip          int  // the number of the written bit that is flipped, from 1; 0: none
	begins        int  // begin and resume take so many bytes of a frame at a time
}

// faultyConn is a connection, and a socket, with a fault.
type faultyConn struct {
	net.Conn
	fault         fault
	written, read atomic.Int64
	rest          []byte // of a frame
}

var _ socket = (*faultyConn)(nil) // else newSocket would wrap it

func (b *faultyConn) begin(head, payload []byte) (whole bool, err error) {
	b.rest = append(append(b.rest[:0], head...), payload...)
	return b.resume()
}

func (b *faultyConn) resume() (whole bool, err error) {
	n, err := b.Write(b.rest[:min(len(b.rest), b.fault.begins)])
	b.rest = b.rest[n:]
	return err == nil && len(b.rest) == 0, err
}

func (b *faultyConn) finish() error {
	_, err := b.Write(b.rest)
	b.rest = nil
	return err
}

// die breaks the connection.
func (b *faultyConn) die() error {
	if b.fault.reset {
		b.Conn.(*net.TCPConn).SetLinger(0)
	}
	b.Conn.Close()
	return syscall.ECONNRESET
}

func (b *faultyConn) Write(p []byte) (n int, err error) {
	done := int(b.written.Load())
	if bit := b.fault.flip - 1; bit >= 8*done && bit < 8*(done+len(p)) {
		p = append([]byte(nil), p...)
		p[bit/8-done] ^= 1 << (bit % 8)
	}
	left := b.fault.writes - done
	if b.fault.writes == 0 || len(p) < left {
		n, err = b.Conn.Write(p)
		b.written.Add(int64(n))
		return n, err
	}
	n, _ = b.Conn.Write(p[:left])
	b.written.Add(int64(n))
	return n, b.die()
}

func (b *faultyConn) Read(p []byte) (n int, err error) {
	if b.fault.reads > 0 {
		left := b.fault.reads - int(b.read.Load())
		if left <= 0 {
			return 0, b.die()
		}
		p = p[:min(len(p), left)]
	}
	n, err = b.Conn.Read(p)
	b.read.Add(int64(n))
	if errors.Is(err, net.ErrClosed) && b.fault.writes > 0 && int(b.written.Load()) >= b.fault.writes {
		err = syscall.ECONNRESET // Write broke the connection
	}
	return n, err
}

// dialFaulty returns a Dial function whose first connections have the given faults, one each.
func dialFaulty(faults ...fault) func(context.Context, string) (net.Conn, error) {
	var dialled atomic.Int64
	return func(ctx context.Context, addr string) (net.Conn, error) {
		c, err := dialTCP(ctx, addr)
		if i := int(dialled.Add(1)) - 1; err == nil && i < len(faults) {
			c = &faultyConn{Conn: c, fault: faults[i]}
		}
		return c, err
	}
}

// patient repairs without pauses and practically without a limit.
var patient = RepairTimeouts{Attempt: time.Minute, Pause: time.Microsecond, Limit: time.Hour}

// eachKind runs a test of links with a connection for each direction, and of links with
// a shared connection.
func eachKind(t *testing.T, test func(t *testing.T, shared bool)) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprintf("shared=%v", shared), func(t *testing.T) { test(t, shared) })
	}
}

// couple opens the links of a ring of two. Only rank 0 dials with dial.
func couple(t *testing.T, c Config, shared bool, dial func(context.Context, string) (net.Conn, error)) (links []ring.Link, n *network, members []ring.Membership) {
	t.Helper()
	c.Repair = true
	if c.RepairTimeouts == (RepairTimeouts{}) {
		c.RepairTimeouts = patient
	}
	n = &network{}
	members = linktest.World(t, n, 2)
	links, errs := make([]ring.Link, 2), make([]error, 2)
	var opening sync.WaitGroup
	for rank := range links {
		one := c
		if rank == 0 {
			one.Dial = dial
		}
		opening.Go(func() {
			var all []ring.Link
			all, errs[rank] = Open(t.Context(), members[rank], n.lis[rank], one, []ring.Route{{To: 1 - rank, From: 1 - rank, Shared: shared}})
			if errs[rank] == nil {
				links[rank] = all[0]
			}
		})
	}
	opening.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return links, n, members
}

// converse sends frames of the given sizes both ways and compares what arrives. It sends
// each second frame with TrySend first. It returns an error if a frame is lost, doubled
// or changed.
func converse(links []ring.Link, sizes []int) error {
	var all sync.WaitGroup
	errs := make([]error, 2*len(links))
	payload := func(rank, i int) []byte {
		b := make([]byte, sizes[i])
		for k := range b {
			b[k] = byte(k*(rank+2) + i)
		}
		return b
	}
	for rank, l := range links {
		all.Go(func() {
			for i := range sizes {
				l := l
				if i%2 == 0 {
					l = linktest.WithTrySend(l)
				}
				if err := l.Send(context.Background(), data(uint64(i), payload(rank, i))); err != nil {
					errs[2*rank] = fmt.Errorf("rank %d, send %d: %w", rank, i, err)
					return
				}
			}
		})
		all.Go(func() {
			for i, n := range sizes {
				f, err := l.Recv(context.Background(), make([]byte, n))
				if err == nil && (f.Op != uint64(i) || string(f.Payload) != string(payload(1-rank, i))) {
					err = fmt.Errorf("operation %d with %d bytes is not what was sent", f.Op, len(f.Payload))
				}
				if err != nil {
					errs[2*rank+1] = fmt.Errorf("rank %d, receive %d: %w", rank, i, err)
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// tally counts conversations and those in which a connection was repaired: a fault may lie
// behind the last byte that is read or written.
type tally struct{ all, repaired int }

// mostly fails the test unless three of four conversations had a repair.
func (n *tally) mostly(t *testing.T) {
	t.Helper()
	if t.Logf("%d of %d conversations were repaired", n.repaired, n.all); 4*n.repaired < 3*n.all || n.all == 0 {
		t.Error("too few repairs, so the test shows little")
	}
}

// healed runs a conversation over faulty connections of both kinds.
func (n *tally) healed(t *testing.T, c Config, sizes []int, faults ...fault) {
	t.Helper()
	for _, shared := range []bool{false, true} {
		if n.all++; heal(t, c, shared, sizes, faults) > 0 {
			n.repaired++
		}
	}
}

func heal(t *testing.T, c Config, shared bool, sizes []int, faults []fault) (repairs int64) {
	t.Helper()
	var n atomic.Int64
	c.Repaired = func(ring.Worker, ring.Worker, error, time.Duration) { n.Add(1) }
	links, _, _ := couple(t, c, shared, dialFaulty(faults...))
	stuck := time.AfterFunc(30*time.Second, func() { links[0].Close(); links[1].Close() })
	defer stuck.Stop()
	if err := converse(links, sizes); err != nil {
		t.Errorf("shared=%v, %+v: %v", shared, faults, err)
	}
	var closing sync.WaitGroup
	for _, l := range links {
		closing.Go(func() { l.Close() })
	}
	closing.Wait()
	return n.Load()
}

// stride returns the distance between two tested bytes or bits: 5 with -short, which the
// race detector's run uses, else 1.
func stride(t *testing.T) int {
	t.Helper()
	if testing.Short() {
		t.Log("long: every fifth place")
		return 5
	}
	return 1
}

// TestRepair verifies that a conversation survives a break at any byte, in frames and in
// acknowledgements: no frame is lost, doubled or changed, and no call waits for ever.
func TestRepair(t *testing.T) {
	var n tally
	small := []int{1, 0, 100}
	bytes := len(small)*ring.FrameHeaderBytes + 101
	for at := 0; at < 2*(bytes+1); at += stride(t) {
		n.healed(t, Config{}, small, fault{writes: helloBytes + proofBytes + at/2, reset: at%2 == 0, begins: at * 7 % 150})
	}
	for at := 0; at < 2*(ring.FrameHeaderBytes+1); at += stride(t) {
		n.healed(t, Config{}, []int{1 << 20, 3}, fault{reads: welcomeBytes + at/2, reset: at%2 == 0})
	}
	for i, at := range []int{1, 40, 4 << 10, 1 << 20, 1<<20 + 39, 3<<20 - 5} {
		n.healed(t, Config{Spin: DefaultSpin}, []int{1 << 20, 1 << 20, 1 << 20, 9, 1 << 20, 8, 1 << 20, 7},
			fault{writes: helloBytes + proofBytes + at, reset: i%2 == 0, begins: 300 << 10})
	}
	n.mostly(t)
}

// TestRepairAgain verifies the same when the replacement breaks too, at each byte of the
// handshake and of the repeated frames.
func TestRepairAgain(t *testing.T) {
	var n tally
	first := fault{writes: helloBytes + proofBytes + 60, reset: true}
	for at := 0; at < helloBytes+proofBytes+90; at += stride(t) {
		first.begins = at % 50
		n.healed(t, Config{}, []int{1, 10, 0}, first, fault{writes: at + 1, reset: at%2 == 0, begins: 45})
	}
	for at := 0; at < welcomeBytes; at += stride(t) {
		n.healed(t, Config{}, []int{1, 10, 0}, first, fault{reads: at + 1})
	}
	n.mostly(t)
}

// TestRepairFlipped verifies that a frame with any bit flipped never reaches a gradient, and
// that the frame is sent again.
func TestRepairFlipped(t *testing.T) {
	var n tally
	for bit := 0; bit < 8*(ring.FrameHeaderBytes+2); bit += stride(t) {
		n.healed(t, Config{PayloadCRC: true}, []int{2}, fault{flip: 8*(helloBytes+proofBytes) + bit + 1, begins: bit % 43})
	}
	n.mostly(t)
}

// TestRepairDamage verifies that a connection that corrupts every frame is not repaired for
// ever, and that the link ends with ring.ErrCorruptFrame.
func TestRepairDamage(t *testing.T) { eachKind(t, testRepairDamage) }

func testRepairDamage(t *testing.T, shared bool) {
	var told []string
	var mu sync.Mutex
	c := Config{PayloadCRC: true, Repaired: func(from, to ring.Worker, why error, _ time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, fmt.Sprintf("%d->%d: %v", from.Rank, to.Rank, why))
	}}
	flip := fault{flip: 8*(helloBytes+proofBytes+ring.FrameHeaderBytes) + 1}
	// All connections have a fault: a connection that comes before the neighbour has noticed the break is closed unread.
	links, _, _ := couple(t, c, shared, dialFaulty(slices.Repeat([]fault{flip}, 20)...))
	defer func() { go links[0].Close(); links[1].Close() }()
	go links[0].Send(t.Context(), data(0, []byte{1}))
	_, err := links[1].Recv(t.Context(), make([]byte, 1))
	if !errors.Is(err, ring.ErrCorruptFrame) || exitcode.Of(err) != exitcode.Protocol || !strings.Contains(err.Error(), "rank 0 (") {
		t.Errorf("error %v (code %d), want ring.ErrCorruptFrame with exitcode.Protocol and rank 0", err, exitcode.Of(err))
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(told, "\n"); strings.Count(got, "0->1: ring: corrupt frame: payload crc32c") != maxCorrupt-1 {
		t.Errorf("reported %q, want %d repairs of corrupt frames", got, maxCorrupt-1)
	}
}

// TestRepairGone verifies that a link to a dead process gives up as soon as it finds that no
// process listens, and that it reports the first break.
func TestRepairGone(t *testing.T) { eachKind(t, testRepairGone) }

func testRepairGone(t *testing.T, shared bool) {
	break0 := fault{writes: helloBytes + proofBytes + 20, reset: true}
	links, n, _ := couple(t, Config{}, shared, dialFaulty(break0))
	defer func() { go links[0].Close(); links[1].Close() }()
	for _, lis := range n.lis {
		lis.Close() // no handshake is answered any more
	}
	n.ports[0].Close()
	n.ports[1].Close()
	got := make(chan error)
	go func() {
		_, err := links[1].Recv(context.Background(), nil)
		got <- err
	}()
	err := links[0].Send(t.Context(), data(0, nil))
	if !errors.Is(err, syscall.ECONNRESET) || exitcode.Of(err) != exitcode.Retry || !strings.Contains(err.Error(), "rank 1 (") {
		t.Errorf("send: error %v (code %d), want the reset by rank 1 with exitcode.Retry", err, exitcode.Of(err))
	}
	if err := <-got; !errors.Is(err, syscall.ECONNRESET) || !strings.Contains(err.Error(), "rank 0 (") {
		t.Errorf("receive: error %v, want the reset by rank 0", err)
	}
}

// TestRepairLimit verifies that a link does not try for ever to reach an unreachable
// neighbour, or to repair a connection that breaks each time before a frame arrives.
func TestRepairLimit(t *testing.T) { eachKind(t, testRepairLimit) }

func testRepairLimit(t *testing.T, shared bool) {
	short := fault{writes: helloBytes + proofBytes + 20}
	for name, dial := range map[string]func(context.Context, string) (net.Conn, error){
		"unreachable": dialOnce(fault{writes: short.writes, reset: true}, syscall.EHOSTUNREACH),
		"breaks":      dialFaulty(short, short, short, short, short, short),
	} {
		t.Run("network="+name, func(t *testing.T) {
			c := Config{RepairTimeouts: patient}
			if name == "unreachable" {
				c.RepairTimeouts.Limit = 5 * time.Millisecond
			}
			links, _, _ := couple(t, c, shared, dial)
			defer func() { go links[0].Close(); links[1].Close() }()
			err := links[0].Send(t.Context(), data(0, nil))
			if !errors.Is(err, syscall.ECONNRESET) || exitcode.Of(err) != exitcode.Retry {
				t.Errorf("error %v (code %d), want the first reset with exitcode.Retry", err, exitcode.Of(err))
			}
		})
	}
}

// dialOnce returns a Dial function whose first connection has a fault; later calls fail.
func dialOnce(w fault, then error) func(context.Context, string) (net.Conn, error) {
	first := dialFaulty(w)
	var dialled atomic.Bool
	return func(ctx context.Context, addr string) (net.Conn, error) {
		if dialled.Swap(true) {
			return nil, then
		}
		return first(ctx, addr)
	}
}

// TestRepairClosed verifies that Close ends a repair on either side.
func TestRepairClosed(t *testing.T) { eachKind(t, testRepairClosed) }

func testRepairClosed(t *testing.T, shared bool) {
	links, _, _ := couple(t, Config{}, shared, dialOnce(fault{writes: helloBytes + proofBytes + 20, reset: true}, syscall.EHOSTUNREACH))
	got := make(chan error, 2)
	go func() { got <- links[0].Send(context.Background(), data(0, nil)) }()
	go func() {
		_, err := links[1].Recv(context.Background(), nil)
		got <- err
	}()
	for !links[0].(*link).out.isBroken() {
		links[1].(*link).in.expectReplacement() // takes a lock, which lets other goroutines run
	}
	links[1].Close()
	links[0].Close()
	for range 2 {
		if err := <-got; !errors.Is(err, ring.ErrClosed) {
			t.Errorf("error %v, want ring.ErrClosed", err)
		}
	}
}

func (s *sender) isBroken() bool {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.broken
}

// TestRepairStrangers verifies that only the neighbour can replace the connection, and that
// strangers do not disturb it.
func TestRepairStrangers(t *testing.T) { eachKind(t, testRepairStrangers) }

func testRepairStrangers(t *testing.T, shared bool) {
	links, n, members := couple(t, Config{}, shared, dialTCP)
	defer func() { go links[0].Close(); links[1].Close() }()
	if err := converse(links, []int{3, 4}); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(m *ring.Membership){
		"generation is 7, want 1":                     func(m *ring.Membership) { m.Generation = 7 },
		"incarnation of rank 0 is 0x5, want 0x64":     func(m *ring.Membership) { m.Workers[0].Incarnation = 5 },
		"incarnation of rank 1 is 0x5, want 0x65":     func(m *ring.Membership) { m.Workers[1].Incarnation = 5 },
		"expects operation 1, segment 1 next, want":   func(*ring.Membership) {}, // a dialer that began anew
		"nobody waits for this rank and stream":       func(m *ring.Membership) { m.Rank = 1 },
		`job id is "job-2", want "job-1"`:             func(m *ring.Membership) { m.JobID = "job-2" },
		"refused: nobody waits for this rank and str": func(m *ring.Membership) { m.Rank = 1 },
	} {
		m := members[0]
		m.Workers = append([]ring.Worker(nil), m.Workers...)
		change(&m)
		err := n.Knock(t, members[1].Self().Addr, func(rw io.ReadWriter) error {
			return handshake.Identity{Membership: m}.Dial(rw, handshake.Peer{Rank: 1})
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := links[0].Send(t.Context(), data(9, nil)); err != nil {
		t.Error(err)
	}
	if f, err := links[1].Recv(t.Context(), nil); err != nil || f.Op != 9 {
		t.Errorf("received operation %d, %v, want 9", f.Op, err)
	}
}
