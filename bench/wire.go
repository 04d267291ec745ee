package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"ringtrain/ring"
	"ringtrain/ring/cores"
)

// A wire has a plain TCP connection to each neighbour.
type wire struct {
	right, left *net.TCPConn
}

// wireTimeout bounds every wait on a wire, in addition to the duration of the stream.
const wireTimeout = 30 * time.Second

// secretBytes is the length of the number that authenticates a neighbour.
const secretBytes = 16

// openWire connects each rank with its right neighbour. Each rank listens on its own
// address and sends the address and a random number to all ranks. A caller must present
// the number.
func openWire(ctx context.Context, g *ring.Group) (*wire, error) {
	m := g.Membership()
	host, _, err := net.SplitHostPort(m.Self().Addr)
	if err != nil {
		return nil, fmt.Errorf("bench: own address: %w", err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer l.Close()
	secret := make([]byte, secretBytes)
	rand.Read(secret) // never fails
	var all ring.Gathered
	if err := g.AllGather(ctx, append(secret, l.Addr().String()...), &all); err != nil {
		return nil, err
	}
	w := new(wire)
	var both errgroup.Group
	both.Go(func() error { return w.call(ctx, all.At(m.Right().Rank)) })
	both.Go(func() error { return w.accept(l.(*net.TCPListener), secret) })
	if err := both.Wait(); err != nil {
		w.close()
		return nil, fmt.Errorf("bench: %w", err)
	}
	return w, nil
}

// call connects to the right neighbour, which sent its number and address.
func (w *wire) call(ctx context.Context, offer []byte) error {
	if len(offer) < secretBytes {
		return errors.New("the right neighbour sent no address")
	}
	d := net.Dialer{Timeout: wireTimeout}
	c, err := d.DialContext(ctx, "tcp", string(offer[secretBytes:]))
	if err != nil {
		return err
	}
	w.right = c.(*net.TCPConn)
	_, err = c.Write(offer[:secretBytes])
	return err
}

// accept accepts the first connection that presents the number.
func (w *wire) accept(l *net.TCPListener, secret []byte) error {
	deadline := time.Now().Add(wireTimeout)
	l.SetDeadline(deadline)
	for {
		c, err := l.AcceptTCP()
		if err != nil {
			return fmt.Errorf("left neighbour: %w", err)
		}
		c.SetDeadline(deadline)
		got := make([]byte, secretBytes)
		if _, err := io.ReadFull(c, got); err == nil && string(got) == string(secret) {
			w.left = c
			return c.SetDeadline(time.Time{})
		}
		c.Close()
	}
}

func (w *wire) close() {
	for _, c := range []*net.TCPConn{w.right, w.left} {
		if c != nil {
			c.Close()
		}
	}
}

// pieceBytes is the size of one write.
const pieceBytes = 256 << 10

// streamLimit measures the stream. All ranks begin together after a barrier. Each rank
// ends its stream with a byte that is not zero, so that the receiver knows its end.
func (w *wire) streamLimit(ctx context.Context, g *ring.Group, c LinkConfig, each func(Limit) error) error {
	whole := c.Duration
	if whole == 0 {
		whole = streamTime
	}
	deadline := time.Now().Add(whole + wireTimeout)
	w.right.SetDeadline(deadline)
	w.left.SetDeadline(deadline)
	if err := g.Barrier(ctx); err != nil {
		return err
	}
	var both errgroup.Group
	var rate float64
	both.Go(func() error { return pour(w.right, whole) })
	both.Go(func() (err error) {
		rate, err = drain(w.left, whole)
		return err
	})
	if err := both.Wait(); err != nil {
		return fmt.Errorf("bench: stream: %w", err)
	}
	slowest, err := largest(ctx, g, 1/rate) // seconds per byte
	if err != nil {
		return err
	}
	gb := 1 / slowest / gigabyte
	return each(Limit{What: "stream", Ranks: g.Membership().Size(), Time: whole.Seconds(), Rate: gb, BusBW: gb})
}

// pour sends zeros for the given duration and then a one.
func pour(c net.Conn, whole time.Duration) error {
	piece := make([]byte, pieceBytes)
	for start := time.Now(); time.Since(start) < whole; {
		if _, err := c.Write(piece); err != nil {
			return err
		}
	}
	_, err := c.Write([]byte{1})
	return err
}

// drain receives until the one. It returns the bytes/s between the first quarter of the
// duration and its end. If nothing arrived in that time, it returns the bytes/s of the
// whole time.
func drain(c net.Conn, whole time.Duration) (float64, error) {
	piece := make([]byte, pieceBytes)
	start := time.Now()
	var from, last, at time.Duration
	counted, all := 0, 0
	for done := false; !done; {
		n, err := c.Read(piece)
		if err != nil {
			return 0, err
		}
		at, all = time.Since(start), all+n
		switch {
		case at < whole/4:
			from = at
		case at < whole:
			counted, last = counted+n, at
		}
		done = piece[n-1] == 1
	}
	if counted == 0 {
		return float64(all) / max(at, 1).Seconds(), nil
	}
	return float64(counted) / max(last-from, 1).Seconds(), nil
}

const (
	lapTimes = 1000 // laps around the ring
	lapFirst = 100  // initial laps that do not count
	lapBytes = 8
)

// latencyLimit measures one hop of 8 bytes.
func (w *wire) latencyLimit(ctx context.Context, g *ring.Group, each func(Limit) error) error {
	m := g.Membership()
	_, onHost := m.Local()
	r, err := newSpinner(w.left, onHost <= cores.Own())
	if err != nil {
		return fmt.Errorf("bench: latency: %w", err)
	}
	if err := g.Barrier(ctx); err != nil {
		return err
	}
	message := make([]byte, lapBytes)
	var start time.Time
	for lap := range lapFirst + lapTimes {
		if lap == lapFirst {
			start = time.Now()
		}
		if err := w.lap(r, message, m.Rank == 0); err != nil {
			return fmt.Errorf("bench: latency: %w", err)
		}
	}
	hop, err := largest(ctx, g, time.Since(start).Seconds()/float64(lapTimes*m.Size()))
	if err != nil {
		return err
	}
	return each(Limit{What: "latency", Bytes: lapBytes, Ranks: m.Size(), Time: hop, Rate: lapBytes / hop / gigabyte})
}

// lap forwards the message once; rank 0 sends it first.
func (w *wire) lap(r *spinner, message []byte, first bool) error {
	if first {
		if _, err := w.right.Write(message); err != nil {
			return err
		}
	}
	if err := r.readFull(message); err != nil || first {
		return err
	}
	_, err := w.right.Write(message)
	return err
}

// A spinner polls a socket for a while before it blocks, for the lowest latency.
type spinner struct {
	conn  syscall.RawConn
	tries int
	into  []byte
	n     int
	err   error
	read  func(fd uintptr) bool
}

const spinTries = 2000

func newSpinner(c *net.TCPConn, spin bool) (*spinner, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &spinner{conn: raw, tries: 1}
	if spin {
		s.tries = spinTries
	}
	s.read = s.try
	return s, nil
}

func (s *spinner) try(fd uintptr) bool {
	for range s.tries {
		s.n, s.err = syscall.Read(int(fd), s.into)
		if s.err != syscall.EAGAIN && s.err != syscall.EINTR {
			return true
		}
	}
	return false
}

func (s *spinner) readFull(p []byte) error {
	for s.into = p; len(s.into) > 0; s.into = s.into[s.n:] {
		if err := s.conn.Read(s.read); err != nil {
			return err
		}
		if s.err != nil {
			return s.err
		}
		if s.n == 0 {
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}
