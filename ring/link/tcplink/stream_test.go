package tcplink

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// raw returns a link whose neighbours are the test itself: right reads what it
// sends, left writes what it receives.
func raw(t *testing.T) (l *link, left, right *net.TCPConn) {
	t.Helper()
	in, left := tcpPair(t)
	right, out := tcpPair(t)
	m := ring.Membership{JobID: "job-1", Generation: 3, Rank: 1, Workers: []ring.Worker{
		{Rank: 0, Addr: "left:1"}, {Rank: 1}, {Rank: 2, Addr: "right:2"},
	}}
	l = newLink(m, out, in, true)
	t.Cleanup(func() { l.Close() })
	return l, left, right
}

func tcpPair(t *testing.T) (a, b *net.TCPConn) {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	d, err := net.Dial("tcp", lis.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := lis.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close(); c.Close() })
	return c.(*net.TCPConn), d.(*net.TCPConn)
}

// bytesOf returns f as it is on the wire.
func bytesOf(f ring.Frame, crc bool) []byte {
	b := make([]byte, ring.FrameHeaderBytes, ring.FrameHeaderBytes+len(f.Payload))
	ring.PutFrameHeader(b, &f, crc)
	return append(b, f.Payload...)
}

func data(op uint64, payload []byte) ring.Frame {
	return ring.Frame{Kind: ring.KindData, Generation: 3, Op: op, Payload: payload}
}

// TestEnds fails if the end of a neighbour is not told in the right words, or
// if a crash passes for a goodbye.
func TestEnds(t *testing.T) {
	goodbye := bytesOf(ring.Frame{Kind: ring.KindClose, Generation: 3}, false)
	half := goodbye[:20]
	tests := []struct {
		name  string
		last  []byte
		end   func(c *net.TCPConn) error
		text  string
		cause error
		code  int
	}{
		{"goodbye", goodbye, (*net.TCPConn).Close, "it closed the link", io.EOF, exitcode.Retry},
		{"crash", nil, (*net.TCPConn).Close, "without a goodbye", io.ErrUnexpectedEOF, exitcode.Retry},
		{"crash in a frame", half, (*net.TCPConn).Close, "without a goodbye", io.ErrUnexpectedEOF, exitcode.Retry},
		{"reset", nil, reset, "connection reset by peer", nil, exitcode.Retry},
		{"garbage", []byte(strings.Repeat("x", 40)), (*net.TCPConn).CloseWrite, "corrupt frame", ring.ErrCorruptFrame, exitcode.Protocol},
	}
	for _, tt := range tests {
		check := func(t *testing.T, err error, who string) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), tt.text) || !strings.Contains(err.Error(), who) {
				t.Fatalf("error %v, want %q and %q", err, who, tt.text)
			}
			if tt.cause != nil && !errors.Is(err, tt.cause) || exitcode.Of(err) != tt.code {
				t.Errorf("error %v (code %d), want cause %v and code %d", err, exitcode.Of(err), tt.cause, tt.code)
			}
		}
		t.Run("left="+tt.name, func(t *testing.T) {
			l, left, _ := raw(t)
			left.Write(bytesOf(data(7, []byte("abc")), true))
			left.Write(tt.last)
			f, err := l.Recv(t.Context(), make([]byte, 100))
			if err != nil || f.Op != 7 || string(f.Payload) != "abc" {
				t.Fatalf("received %+v, %v", f, err)
			}
			tt.end(left)
			for range 2 { // and again: an ended link stays ended
				_, err = l.Recv(t.Context(), make([]byte, 100))
				check(t, err, "receive from rank 0 (left:1)")
			}
		})
		t.Run("right="+tt.name, func(t *testing.T) {
			l, _, right := raw(t)
			right.Write(tt.last)
			tt.end(right)
			var err error
			for err == nil {
				err = l.Send(t.Context(), data(0, make([]byte, 1<<16)))
			}
			check(t, err, "send to rank 2 (right:2)")
		})
	}
}

// reset closes c as the kernel does for a process that dies with unread data.
func reset(c *net.TCPConn) error {
	c.SetLinger(0)
	return c.Close()
}

// TestBadFrames fails if a frame is accepted that must not come, or if a length
// from the wire is trusted.
func TestBadFrames(t *testing.T) {
	flipped := bytesOf(data(0, []byte("abcd")), true)
	flipped[len(flipped)-1] ^= 1
	huge := bytesOf(data(0, nil), false)
	huge[31] = 0xff
	frames := map[string][]byte{
		"ack":      bytesOf(ring.Frame{Kind: ring.KindAck}, false),
		"kind=9":   bytesOf(ring.Frame{Kind: 9}, false),
		"flipped":  flipped,
		"too long": bytesOf(data(0, make([]byte, 101)), true),
		"huge":     huge,
	}
	for name, b := range frames {
		t.Run("frame="+name, func(t *testing.T) {
			l, left, _ := raw(t)
			left.Write(b)
			into := make([]byte, 101)
			if _, err := l.Recv(t.Context(), into[:100]); !errors.Is(err, ring.ErrCorruptFrame) {
				t.Errorf("error %v, want ring.ErrCorruptFrame", err)
			}
			if into[100] != 0 {
				t.Error("wrote behind into")
			}
		})
	}
}

// TestBadAcks fails if the sender believes acknowledgements of frames that it
// has not sent.
func TestBadAcks(t *testing.T) {
	l, _, right := raw(t)
	right.Write(bytesOf(ring.Frame{Kind: ring.KindAck, Generation: 3, Op: 1}, false))
	<-l.ended
	if err := l.Send(t.Context(), data(0, nil)); !errors.Is(err, ring.ErrCorruptFrame) {
		t.Errorf("error %v, want ring.ErrCorruptFrame", err)
	}
}

// TestAcks fails if acknowledgements do not come where the protocol says.
func TestAcks(t *testing.T) {
	l, left, _ := raw(t)
	const n, frames = 256 << 10, 9
	go func() {
		for op := range uint64(frames) {
			left.Write(bytesOf(data(op, make([]byte, n)), false))
		}
	}()
	into := make([]byte, n)
	for range frames {
		if _, err := l.Recv(t.Context(), into); err != nil {
			t.Fatal(err)
		}
	}
	var acked []uint64
	for range 2 {
		var b [ring.FrameHeaderBytes]byte
		if _, err := io.ReadFull(left, b[:]); err != nil {
			t.Fatal(err)
		}
		h, err := ring.ParseFrameHeader(b[:])
		if err != nil || h.Kind != ring.KindAck || h.Generation != 3 {
			t.Fatalf("header %+v, %v, want an acknowledgement", h, err)
		}
		acked = append(acked, h.Op)
	}
	if want := []uint64{3, 7}; !slices.Equal(acked, want) {
		t.Errorf("acknowledged %v, want %v", acked, want)
	}
}

// flipper flips the last bit of every large write.
type flipper struct{ net.Conn }

func (c flipper) Write(p []byte) (int, error) {
	if len(p) < 1000 {
		return c.Conn.Write(p)
	}
	q := slices.Clone(p)
	q[len(q)-1] ^= 1
	return c.Conn.Write(q)
}

// TestFlippedBit fails if a bit that the network flips gets into a gradient
// although payload CRCs are on.
func TestFlippedBit(t *testing.T) {
	links := openAll(t, 2, Config{PayloadCRC: true, Dial: func(ctx context.Context, addr string) (net.Conn, error) {
		c, err := dialTCP(ctx, addr)
		return flipper{c}, err
	}})
	for _, n := range []int{10, 2000} {
		if err := links[0].Send(t.Context(), data(0, make([]byte, n))); err != nil {
			t.Fatal(err)
		}
		_, err := links[1].Recv(t.Context(), make([]byte, n))
		if flipped := n > 1000; errors.Is(err, ring.ErrCorruptFrame) != flipped {
			t.Errorf("bytes=%d: error %v, want ring.ErrCorruptFrame: %v", n, err, flipped)
		}
	}
}

// TestCloseDelivers has a rank send more than the receiver's kernel takes at
// once and close at once, while the receiver acknowledges. It fails if the
// acknowledgements of a slow receiver reset the connection and lose frames.
func TestCloseDelivers(t *testing.T) {
	links := openAll(t, 2, Config{})
	const n, frames = 1 << 20, 24
	var wg sync.WaitGroup
	wg.Go(func() {
		payload := make([]byte, n)
		for op := range uint64(frames) {
			if err := links[0].Send(t.Context(), data(op, payload)); err != nil {
				t.Errorf("frame %d: %v", op, err)
			}
		}
		links[0].Close()
	})
	into := make([]byte, n)
	for op := range uint64(frames) {
		if f, err := links[1].Recv(t.Context(), into); err != nil || f.Op != op {
			t.Fatalf("received operation %d, %v, want %d", f.Op, err, op)
		}
	}
	if _, err := links[1].Recv(t.Context(), into); !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want io.EOF", err)
	}
	wg.Wait()
}

// TestCloseWaits fails if Close ends the connection while acknowledgements are
// due: they would reset it, with what the neighbour has not read yet.
func TestCloseWaits(t *testing.T) {
	l, _, right := raw(t)
	const frames = 2
	for op := range uint64(frames) {
		if err := l.Send(t.Context(), data(op, make([]byte, 1<<20))); err != nil {
			t.Fatal(err)
		}
	}
	closed := make(chan struct{})
	go func() {
		l.Close()
		close(closed)
	}()
	io.CopyN(io.Discard, right, frames*(ring.FrameHeaderBytes+1<<20))
	for op := range uint64(frames) {
		select {
		case <-closed:
			t.Fatalf("closed before acknowledgement %d", op)
		default:
		}
		right.Write(bytesOf(ring.Frame{Kind: ring.KindAck, Generation: 3, Op: op}, false))
	}
	<-closed
	last, err := io.ReadAll(right)
	want := bytesOf(ring.Frame{Kind: ring.KindClose, Generation: 3}, false)
	if err != nil || !slices.Equal(last, want) {
		t.Errorf("last came %x, %v, want a goodbye and no error", last, err)
	}
}

// TestContext fails if an operation begins on a context that has ended, or
// loses its cause.
func TestContext(t *testing.T) {
	l, _, _ := raw(t)
	cause := errors.New("generation ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := l.Send(ctx, data(0, nil)); !errors.Is(err, cause) {
		t.Errorf("send: error %v, want %v", err, cause)
	}
	if _, err := l.Recv(ctx, nil); !errors.Is(err, cause) {
		t.Errorf("receive: error %v, want %v", err, cause)
	}
}

// TestAllocations fails if a frame costs memory on either side, acknowledgements
// included.
func TestAllocations(t *testing.T) {
	for _, n := range []int{0, 64, 128 << 10} {
		links := openAll(t, 2, Config{PayloadCRC: true})
		payload, into := make([]byte, n), make([]byte, n)
		var op atomic.Uint64
		got := testing.AllocsPerRun(100, func() {
			if err := links[0].Send(t.Context(), data(op.Add(1), payload)); err != nil {
				t.Fatal(err)
			}
			if _, err := links[1].Recv(t.Context(), into); err != nil {
				t.Fatal(err)
			}
		})
		if got != 0 {
			t.Errorf("bytes=%d: %v allocations per frame, want 0", n, got)
		}
	}
}
