package tcplink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/linktest"
)

// TestFaults verifies that the link reports a neighbour's protocol fault under the
// neighbour's name.
func TestFaults(t *testing.T) {
	checkFaults(t, func(t *testing.T) stage {
		s, _, _ := newStage(t)
		return s
	})
}

// stage is the link of rank 1 in a ring of 3, with CRCs. The test plays its
// neighbours.
type stage struct {
	Link        ring.Link
	Membership  ring.Membership
	Left, Right wire // the ends of rank 0, which sends data, and rank 2, which sends nothing
	Shared      bool // Left and Right are one connection, which Recv reads
}

// checkFaults verifies how a link handles neighbours that break off or send invalid frames. open
// returns a new stage, which ends with the test.
func checkFaults(t *testing.T, open func(t *testing.T) stage) {
	for name, test := range map[string]func(*testing.T, func(*testing.T) stage){
		"ends": testEnds, "flipped": testFlipped, "cut": testCut, "order": testWrongFrames, "length": testLengths,
	} {
		t.Run("fault="+name, func(t *testing.T) { test(t, open) })
	}
}

// wireBytes returns f as it is on a wire in clear.
func wireBytes(f ring.Frame) []byte {
	b := make([]byte, ring.FrameHeaderBytes, ring.FrameHeaderBytes+len(f.Payload))
	ring.PutFrameHeader(b, &f, true)
	return append(b, f.Payload...)
}

// segmentOf returns a segment of an operation.
func segmentOf(op uint64, segment uint32, payload []byte) ring.Frame {
	return ring.Frame{Kind: ring.KindData, Generation: linktest.Generation, Op: op, Segment: segment, Payload: payload}
}

// withTerms gives f the terms of an operation of a kind on n elements. Kind 1 is an all-reduce by
// ring, 4 is a barrier; see PROTOCOL.md.
func withTerms(kind, n uint32, f ring.Frame) ring.Frame {
	f.Terms, f.Length = kind, n
	return f
}

// play writes b to w and ignores errors: the link may have closed w.
func play(w wire, b []byte) { _, _ = w.Write(b) }

// testEnds verifies that the link reports the end of a neighbour in the right words, and
// tells a crash from a goodbye.
func testEnds(t *testing.T, open func(*testing.T) stage) {
	tests := []struct {
		name  string
		last  []byte
		end   func(wire)
		text  string
		cause error
		code  int
	}{
		{"goodbye", goodbye(), closeWire, "it closed the link", io.EOF, exitcode.Retry},
		{"crash", nil, closeWire, "without a goodbye", io.ErrUnexpectedEOF, exitcode.Retry},
		{"reset", nil, wire.Reset, "", nil, exitcode.Retry},
		{"garbage", []byte(strings.Repeat("x", 40)), func(wire) {}, "changed on the way", ring.ErrChangedBytes, exitcode.Retry},
	}
	for _, tt := range tests {
		check := func(t *testing.T, err error, link, who string) {
			t.Helper()
			if tt.cause == ring.ErrChangedBytes {
				who = "link " + link
			}
			if err == nil || !strings.Contains(err.Error(), tt.text) || !strings.Contains(err.Error(), who) {
				t.Fatalf("error %v, want %q and %q", err, who, tt.text)
			}
			if tt.cause != nil && !errors.Is(err, tt.cause) || exitcode.Of(err) != tt.code {
				t.Errorf("error %v (code %d), want cause %v and code %d", err, exitcode.Of(err), tt.cause, tt.code)
			}
		}
		t.Run("left="+tt.name, func(t *testing.T) {
			s := open(t)
			play(s.Left, wireBytes(segmentOf(7, 0, []byte("abc"))))
			f, err := s.Link.Recv(t.Context(), make([]byte, 100))
			if err != nil || f.Op != 7 || string(f.Payload) != "abc" {
				t.Fatalf("received %+v, %v", f, err)
			}
			if tt.last != nil {
				play(s.Left, tt.last)
			}
			tt.end(s.Left)
			for range 2 { // the second call verifies that an ended link stays ended
				_, err = s.Link.Recv(t.Context(), make([]byte, 100))
				check(t, err, "0 -> 1", "receive from rank 0 ("+s.Membership.Left().Addr)
			}
		})
		t.Run("right="+tt.name, func(t *testing.T) {
			s := open(t)
			if tt.last != nil {
				play(s.Right, tt.last)
			}
			tt.end(s.Right)
			if s.Shared {
				go s.Link.Recv(context.Background(), nil)
			}
			var err error
			for err == nil {
				err = s.Link.Send(t.Context(), segmentOf(0, 0, make([]byte, 1<<16)))
			}
			check(t, err, "1 -> 2", "send to rank 2 ("+s.Membership.Right().Addr)
		})
	}
}

func closeWire(w wire) { w.Close() }

// checkRefused verifies that the next frame is refused with an error that names the left
// neighbour, or the link from it, and is no orderly end, and that it is want, if that is not nil.
func checkRefused(t *testing.T, s stage, into []byte, want error) {
	t.Helper()
	_, err := s.Link.Recv(t.Context(), into)
	switch {
	case err == nil || errors.Is(err, ring.ErrClosed) || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "rank 0 (") && !strings.HasPrefix(err.Error(), "link 0 -> 1 at "):
		t.Errorf("error %v, want one that blames rank 0", err)
	case want != nil && !errors.Is(err, want) || (exitcode.Of(err) == exitcode.Protocol) != (want == ring.ErrCorruptFrame):
		t.Errorf("error %v (code %d), want %v, and exitcode.Protocol for a corrupt frame only", err, exitcode.Of(err), want)
	}
}

// testFlipped verifies that a frame with any bit flipped never reaches a gradient.
func testFlipped(t *testing.T, open func(*testing.T) stage) {
	good := wireBytes(segmentOf(1, 2, []byte("good")))
	for bit := range 8 * len(good) {
		s := open(t)
		b := slices.Clone(good)
		b[bit/8] ^= 1 << (bit % 8)
		play(s.Left, b)
		s.Left.Close() // else a longer length waits for more
		checkRefused(t, s, make([]byte, 4), ring.ErrChangedBytes)
		if t.Failed() {
			t.Fatalf("bit %d of byte %d", bit%8, bit/8)
		}
	}
}

// testCut verifies that a frame that is cut at any byte passes neither for a frame nor for an
// orderly end.
func testCut(t *testing.T, open func(*testing.T) stage) {
	good := wireBytes(segmentOf(1, 2, []byte("good")))
	for n := range good {
		for _, end := range []func(wire){closeWire, wire.Reset} {
			s := open(t)
			if n > 0 {
				play(s.Left, good[:n])
			}
			end(s.Left)
			checkRefused(t, s, make([]byte, 4), nil)
			if t.Failed() {
				t.Fatalf("cut at byte %d", n)
			}
		}
	}
}

// testLengths verifies that a length from the wire is not trusted, in frames with and without
// data.
func testLengths(t *testing.T, open func(*testing.T) stage) {
	huge := wireBytes(segmentOf(0, 0, make([]byte, ring.MaxPayloadBytes+1)))[:ring.FrameHeaderBytes]
	frames := map[string]struct {
		bytes []byte
		want  error
	}{
		"beyond into":      {wireBytes(segmentOf(0, 0, make([]byte, 101))), ring.ErrCorruptFrame},
		"far beyond into":  {wireBytes(segmentOf(0, 0, make([]byte, 1<<20))), ring.ErrCorruptFrame},
		"without its rest": {wireBytes(segmentOf(0, 0, make([]byte, 1<<10)))[:1000], ring.ErrChangedBytes},
		"huge":             {huge, ring.ErrChangedBytes},
		"kind=9":           {wireBytes(ring.Frame{Kind: 9, Generation: linktest.Generation}), ring.ErrChangedBytes},
	}
	for name, f := range frames {
		t.Run("frame="+name, func(t *testing.T) {
			s := open(t)
			go play(s.Left, f.bytes)
			into := make([]byte, 101)
			checkRefused(t, s, into[:100], f.want)
			if into[100] != 0 {
				t.Error("wrote behind into")
			}
		})
	}
}

// testWrongFrames plays a neighbour whose frames are valid but not the expected ones, to a
// group over the link. It verifies that no such frame reaches a sum, and that the error names
// the neighbour.
func testWrongFrames(t *testing.T, open func(*testing.T) stage) {
	barrier := func(ctx context.Context, g *ring.Group) error { return g.Barrier(ctx) }
	reduce := func(ctx context.Context, g *ring.Group) error {
		return g.AllReduce(ctx, ring.Reduction{Buf: make([]float32, 12)})
	}
	wait := func(op uint64, segment uint32) ring.Frame { return withTerms(4, 0, segmentOf(op, segment, nil)) }
	sum := func(n uint32, bytes int) ring.Frame { return withTerms(1, n, segmentOf(0, 0, make([]byte, bytes))) }
	other := wait(0, 0)
	other.Generation++
	tests := []struct {
		name   string
		op     func(context.Context, *ring.Group) error
		frames []ring.Frame
		want   string
	}{
		{"repeated", barrier, []ring.Frame{wait(0, 0), wait(0, 0)}, "segment is 0, want 1"},
		{"reordered", barrier, []ring.Frame{wait(0, 1), wait(0, 0)}, "segment is 1, want 0"},
		{"other operation", barrier, []ring.Frame{wait(1, 0)}, "operation is 1, want 0"},
		{"other generation", barrier, []ring.Frame{other}, "generation is"},
		{"other kind", barrier, []ring.Frame{sum(12, 16)}, "operation is barrier on rank 1, all-reduce on rank 0"},
		{"other length", reduce, []ring.Frame{sum(13, 16)}, "length in elements is 12 on rank 1, 13 on rank 0"},
		{"beyond the chunk", reduce, []ring.Frame{sum(12, 1<<10)}, "payload of 1024 bytes"},
		{"short of the chunk", reduce, []ring.Frame{sum(12, 12)}, "payload of 12 bytes"},
	}
	for _, tt := range tests {
		t.Run("frame="+tt.name, func(t *testing.T) {
			s := open(t)
			g, err := ring.New(t.Context(), s.Membership, ring.Transport{Ring: s.Link}, ring.DefaultConfig())
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			for _, f := range tt.frames {
				play(s.Left, wireBytes(f))
			}
			err = tt.op(t.Context(), g)
			pe, ok := errors.AsType[*ring.PeerError](err)
			if !ok || pe.Rank != 0 || exitcode.Of(err) != exitcode.Protocol || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("error %v (code %d), want a PeerError of rank 0 with exitcode.Protocol and %q", err, exitcode.Of(err), tt.want)
			}
		})
	}
}

// newStage returns a stage, with the ends of the neighbours.
func newStage(t *testing.T) (s stage, left, right *net.TCPConn) {
	t.Helper()
	in, left := tcpPair(t)
	right, out := tcpPair(t)
	m := ring.Membership{JobID: "job-1", Generation: linktest.Generation, Rank: 1, Workers: []ring.Worker{
		{Rank: 0, Addr: "left:1"}, {Rank: 1}, {Rank: 2, Addr: "right:2"},
	}}
	l := newLink(m, ring.Route{To: 2, From: 0}, plain(newSocket(tune(out, 2))), plain(newSocket(newReadConn(tune(in, 2), DefaultSpin))))
	t.Cleanup(func() { l.Close() })
	return stage{Link: l, Membership: m, Left: wire{left}, Right: wire{right}}, left, right
}

// plain returns s as a connection in clear between hosts.
func plain(s socket) *conn { return &conn{socket: s, below: s, crc: true} }

// wire is a connection that can end like that of a crashed process.
type wire struct{ *net.TCPConn }

func (w wire) Reset() {
	w.SetLinger(0)
	w.Close()
}
