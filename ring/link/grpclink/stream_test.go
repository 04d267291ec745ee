package grpclink

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/handshake"
)

// raw returns the link of rank 1 of 3, whose neighbours are the test itself:
// left sends what it receives, right receives what it sends.
func raw(t *testing.T) (l *link, left grpc.ClientStream, right *incoming) {
	t.Helper()
	ctx := within(t, 10*time.Second)
	acceptors, members := world(t, 3)
	one := open(ctx, members[1], acceptors[1], Config{PayloadCRC: true})
	left = call(t, members[0])
	if err := shake(left, handshake.Party{Membership: members[0]}.Dial); err != nil {
		t.Fatal(err)
	}
	right, err := handshake.Await(ctx, handshake.Party{Membership: members[2]}, acceptors[2].next)
	if err != nil {
		t.Fatal(err)
	}
	o := <-one
	if o.err != nil {
		t.Fatal(o.err)
	}
	t.Cleanup(func() { o.link.Close() })
	t.Cleanup(func() { right.Close() }) // first, for it reads nothing that the link would wait for
	return o.link.(*link), left, right
}

// bytesOf returns f as it is on the wire.
func bytesOf(f ring.Frame, crc bool) []byte {
	b := make([]byte, ring.FrameHeaderBytes, ring.FrameHeaderBytes+len(f.Payload))
	ring.PutFrameHeader(b, &f, crc)
	return append(b, f.Payload...)
}

func send(t *testing.T, s stream, b []byte) {
	t.Helper()
	if err := s.SendMsg(&outMessage{head: b}); err != nil {
		t.Fatal(err)
	}
}

func data(op uint64, payload []byte) ring.Frame {
	return ring.Frame{Kind: ring.KindData, Generation: 3, Op: op, Payload: payload}
}

// TestEnds fails if the end of a neighbour is not told in the right words, or
// if a crash passes for a goodbye.
func TestEnds(t *testing.T) {
	goodbye := bytesOf(ring.Frame{Kind: ring.KindClose, Generation: 3}, false)
	tests := []struct {
		name  string
		last  []byte
		text  string
		cause error
		code  int
	}{
		{"goodbye", goodbye, "it closed the link", io.EOF, exitcode.Retry},
		{"crash", nil, "without a goodbye", io.ErrUnexpectedEOF, exitcode.Retry},
		{"garbage", []byte(strings.Repeat("x", 40)), "corrupt frame", ring.ErrCorruptFrame, exitcode.Protocol},
		{"short", goodbye[:39], "corrupt frame", ring.ErrCorruptFrame, exitcode.Protocol},
	}
	for _, tt := range tests {
		check := func(t *testing.T, err error, who string) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), tt.text) || !strings.Contains(err.Error(), who) {
				t.Fatalf("error %v, want %q and %q", err, who, tt.text)
			}
			if !errors.Is(err, tt.cause) || exitcode.Of(err) != tt.code {
				t.Errorf("error %v (code %d), want cause %v and code %d", err, exitcode.Of(err), tt.cause, tt.code)
			}
		}
		t.Run("left="+tt.name, func(t *testing.T) {
			l, left, _ := raw(t)
			send(t, left, bytesOf(data(7, []byte("abc")), true))
			f, err := l.Recv(t.Context(), make([]byte, 100))
			if err != nil || f.Op != 7 || string(f.Payload) != "abc" {
				t.Fatalf("received %+v, %v", f, err)
			}
			if tt.last != nil {
				send(t, left, tt.last)
			}
			left.CloseSend()
			for range 2 { // and again: an ended link stays ended
				_, err = l.Recv(t.Context(), make([]byte, 100))
				check(t, err, "receive from rank 0 (127.0.0.1:")
			}
		})
		t.Run("right="+tt.name, func(t *testing.T) {
			l, _, right := raw(t)
			if tt.last != nil {
				send(t, right.stream, tt.last)
			}
			right.Close()
			var err error
			for err == nil {
				err = l.Send(t.Context(), data(0, make([]byte, 1<<16)))
			}
			check(t, err, "send to rank 2 (127.0.0.1:")
		})
	}
}

// TestCut fails if a neighbour whose connection breaks passes for one that said
// goodbye, on either side.
func TestCut(t *testing.T) {
	links := openAll(t, 2, Config{})
	links[0].(*link).out.conn.Close()
	if _, err := links[1].Recv(t.Context(), nil); !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		t.Errorf("receive: error %v, want io.ErrUnexpectedEOF", err)
	}
	if err := links[0].Send(t.Context(), data(0, nil)); !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		t.Errorf("send: error %v, want io.ErrUnexpectedEOF", err)
	}
}

// TestBadFrames fails if a frame is accepted that must not come, or if a length
// from the wire is trusted.
func TestBadFrames(t *testing.T) {
	flipped := bytesOf(data(0, []byte("abcd")), true)
	flipped[len(flipped)-1] ^= 1
	long := bytesOf(data(0, make([]byte, maxChunk+10)), true)
	cut := len(long) - 10
	tests := map[string][][]byte{
		"ack":            {bytesOf(ring.Frame{Kind: ring.KindAck}, false)},
		"kind=9":         {bytesOf(ring.Frame{Kind: 9}, false)},
		"flipped":        {flipped},
		"no payload":     {flipped[:ring.FrameHeaderBytes]},
		"too much":       {append(bytesOf(data(0, nil), false), 1)},
		"too long":       {bytesOf(data(0, make([]byte, maxChunk)), true), bytesOf(data(1, make([]byte, maxChunk+101)), true)[:ring.FrameHeaderBytes]},
		"rest too short": {long[:cut], long[cut:][:9]},
		"rest too long":  {long[:cut], append(slices.Clone(long[cut:]), 1)},
	}
	for name, messages := range tests {
		t.Run("frame="+name, func(t *testing.T) {
			l, left, _ := raw(t)
			for _, b := range messages {
				send(t, left, b)
			}
			into := make([]byte, maxChunk+101)
			var err error
			for err == nil {
				_, err = l.Recv(t.Context(), into[:maxChunk+100])
			}
			if !errors.Is(err, ring.ErrCorruptFrame) {
				t.Errorf("error %v, want ring.ErrCorruptFrame", err)
			}
			if into[maxChunk+100] != 0 {
				t.Error("wrote behind into")
			}
		})
	}
}

// TestBadAcks fails if the sender believes acknowledgements of frames that it
// has not sent, or such with a payload.
func TestBadAcks(t *testing.T) {
	for name, f := range map[string]ring.Frame{
		"never sent": {Kind: ring.KindAck, Generation: 3, Op: 1},
		"payload":    {Kind: ring.KindAck, Generation: 3, Payload: []byte("x")},
		"data":       {Kind: ring.KindData, Generation: 3},
	} {
		t.Run("ack="+name, func(t *testing.T) {
			l, _, right := raw(t)
			send(t, right.stream, bytesOf(f, false))
			<-l.ended
			if err := l.Send(t.Context(), data(0, nil)); !errors.Is(err, ring.ErrCorruptFrame) {
				t.Errorf("error %v, want ring.ErrCorruptFrame", err)
			}
		})
	}
}

// TestAcks fails if acknowledgements do not come where the protocol says.
func TestAcks(t *testing.T) {
	l, left, _ := raw(t)
	const frames = 9
	go func() {
		for op := range uint64(frames) {
			left.SendMsg(&outMessage{head: bytesOf(data(op, make([]byte, maxChunk)), false)})
		}
	}()
	into := make([]byte, maxChunk)
	for range frames {
		if _, err := l.Recv(t.Context(), into); err != nil {
			t.Fatal(err)
		}
	}
	var acked []uint64
	for range 2 {
		var m inMessage
		if err := left.RecvMsg(&m); err != nil {
			t.Fatal(err)
		}
		h, err := ring.ParseFrameHeader(m.data.Materialize())
		if err != nil || h.Kind != ring.KindAck || h.Generation != 3 {
			t.Fatalf("header %+v, %v, want an acknowledgement", h, err)
		}
		acked = append(acked, h.Op)
	}
	if want := []uint64{3, 7}; !slices.Equal(acked, want) {
		t.Errorf("acknowledged %v, want %v", acked, want)
	}
}

// TestCloseDelivers has a rank send more than the windows hold and close at
// once, while the receiver acknowledges. It fails if frames are lost.
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

// TestCloseWaits fails if Close ends the stream before the neighbour has taken
// what gRPC holds back.
func TestCloseWaits(t *testing.T) {
	l, _, right := raw(t)
	if err := l.Send(t.Context(), data(0, []byte("last"))); err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		l.Close()
		close(closed)
	}()
	for _, want := range []ring.Frame{data(0, []byte("last")), {Kind: ring.KindClose, Generation: 3}} {
		select {
		case <-closed:
			t.Fatalf("closed before kind %d was taken", want.Kind)
		default:
		}
		var m inMessage
		if err := right.stream.RecvMsg(&m); err != nil {
			t.Fatal(err)
		}
		if got := m.data.Materialize(); !slices.Equal(got, bytesOf(want, want.Kind == ring.KindData)) {
			t.Errorf("received %x, want kind %d", got, want.Kind)
		}
	}
	right.Close()
	<-closed
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

// TestAllocations fails if the package comment understates what a frame costs:
// if payloads are allocated anew, for instance.
func TestAllocations(t *testing.T) {
	for n, most := range map[int]float64{64: 20, maxChunk: 40} {
		links := openAll(t, 2, Config{})
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
		t.Logf("bytes=%d: %v allocations per frame", n, got)
		if got > most {
			t.Errorf("bytes=%d: %v allocations per frame, want at most %v", n, got, most)
		}
	}
}
