package delivery

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// TestAcks sends frames of random sizes to a slow receiver. It verifies that the sender
// accepts each acknowledgement, and that each comes with the frame that completes AckBytes,
// or RareAckBytes where they are rare.
func TestAcks(t *testing.T) {
	t.Run("often", func(t *testing.T) { testAcks(t, false, AckBytes) })
	t.Run("rare", func(t *testing.T) { testAcks(t, true, RareAckBytes) })
}

func testAcks(t *testing.T, rare bool, every int) {
	const seed = 1
	rnd := rand.New(rand.NewPCG(seed, 0))
	payload := make([]byte, 3<<20)
	var (
		sent     = AckTracker{Counter: ReceivedCounter{Rare: rare}}
		received = ReceivedCounter{Rare: rare}
		wire     []ring.Frame
		silent   int
		acks     int
	)
	for i := range 2000 {
		f := ring.Frame{Kind: ring.KindData, Op: uint64(i / 7), Segment: uint32(i % 7), Payload: payload[:rnd.IntN(1<<(rnd.IntN(21)+1))]}
		sent.Add(&f)
		wire = append(wire, f)
		for len(wire) > 0 && rnd.IntN(3) > 0 {
			got := wire[0]
			wire = wire[1:]
			silent += ring.FrameHeaderBytes + len(got.Payload)
			if !received.Add(&got) {
				if silent >= every {
					t.Fatalf("seed %d, frame %d: %d bytes without an acknowledgement", seed, i, silent)
				}
				continue
			}
			if silent < every {
				t.Fatalf("seed %d, frame %d: an acknowledgement after %d bytes, want %d", seed, i, silent, every)
			}
			silent = 0
			acks++
			if err := sent.Ack(&ring.Frame{Kind: ring.KindAck, Op: got.Op, Segment: got.Segment}); err != nil {
				t.Fatalf("seed %d, frame %d: %v", seed, i, err)
			}
		}
	}
	if acks < 3 {
		t.Errorf("%d acknowledgements, want some", acks)
	}
}

// TestLyingAck verifies that a sender refuses acknowledgements of frames that it has not
// sent, and repeated ones.
func TestLyingAck(t *testing.T) {
	big := ring.Frame{Kind: ring.KindData, Op: 4, Segment: 2, Payload: make([]byte, AckBytes)}
	small := ring.Frame{Kind: ring.KindData, Op: 4, Segment: 1}
	var s AckTracker
	check := func(what string, op uint64, segment uint32) {
		t.Helper()
		err := s.Ack(&ring.Frame{Kind: ring.KindAck, Op: op, Segment: segment})
		if !errors.Is(err, ring.ErrCorruptFrame) {
			t.Errorf("%s: error %v, want ring.ErrCorruptFrame", what, err)
		}
	}
	check("nothing sent", 0, 0)
	s.Add(&small)
	check("not due", 4, 1)
	s.Add(&big)
	check("never sent", 4, 3)
	check("other operation", 5, 2)
	if err := s.Ack(&big); err != nil {
		t.Fatal(err)
	}
	check("twice", 4, 2)
}

// TestSettled verifies that AllAcked waits for the acknowledgements that are due, and only
// for those.
func TestSettled(t *testing.T) {
	var s AckTracker
	settled := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	if !settled(s.AllAcked()) {
		t.Error("waits for nothing")
	}
	f := ring.Frame{Kind: ring.KindData, Payload: make([]byte, AckBytes)}
	for f.Segment = range 2 {
		s.Add(&f)
	}
	c := s.AllAcked()
	for f.Segment = range 2 {
		if settled(c) {
			t.Errorf("%d acknowledgements are due, but it is settled", 2-f.Segment)
		}
		if err := s.Ack(&f); err != nil {
			t.Fatal(err)
		}
	}
	if !settled(c) {
		t.Error("nothing is due, but it is not settled")
	}
}

// TestFault verifies that NeighbourError names the neighbour once and keeps the cause and
// the exit code.
func TestFault(t *testing.T) {
	w := ring.Worker{Rank: 3, Addr: "10.0.0.7:44"}
	addr := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 44}
	reset := &net.OpError{Op: "read", Net: "tcp", Source: addr, Addr: addr, Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	tests := []struct {
		name  string
		err   error
		text  string
		cause error
		code  int
	}{
		{"reset", reset, "rank 3 (10.0.0.7:44): connection reset by peer", syscall.ECONNRESET, exitcode.Retry},
		{"crash", io.EOF, "rank 3 (10.0.0.7:44): the connection ended without a goodbye: unexpected EOF", io.ErrUnexpectedEOF, exitcode.Retry},
		{"goodbye", ErrGoodbye, "rank 3 (10.0.0.7:44): it closed the link: EOF", io.EOF, exitcode.Retry},
		{"corrupt", ring.ErrCorruptFrame, "rank 3 (10.0.0.7:44): ring: corrupt frame", ring.ErrCorruptFrame, exitcode.Protocol},
	}
	for _, tt := range tests {
		t.Run("error="+tt.name, func(t *testing.T) {
			err := NeighbourError(w, tt.err)
			if err.Error() != tt.text || !errors.Is(err, tt.cause) || exitcode.Of(err) != tt.code {
				t.Errorf("%q (code %d), want %q with cause %v (code %d)", err, exitcode.Of(err), tt.text, tt.cause, tt.code)
			}
			if strings.Contains(tt.name, "crash") && errors.Is(err, io.EOF) {
				t.Error("a crash passes for an orderly end")
			}
		})
	}
}
