package grpclink

import (
	"errors"
	"io"
	"slices"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
)

func data(op uint64, payload []byte) ring.Frame {
	return ring.Frame{Kind: ring.KindData, Generation: linktest.Generation, Op: op, Payload: payload}
}

func send(t *testing.T, s stream, b []byte) {
	t.Helper()
	if err := sendTo(s, b); err != nil {
		t.Fatal(err)
	}
}

// TestCut verifies that both halves tell a broken connection from a goodbye.
func TestCut(t *testing.T) {
	links := openRing(t, 2, Config{})
	links[0].(*link).out.out.conn.Close()
	if _, err := links[1].Recv(t.Context(), nil); !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		t.Errorf("receive: error %v, want io.ErrUnexpectedEOF", err)
	}
	if err := links[0].Send(t.Context(), data(0, nil)); !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		t.Errorf("send: error %v, want io.ErrUnexpectedEOF", err)
	}
}

// TestBadFrames verifies that invalid frames are refused, and that a length from the wire is
// not trusted.
func TestBadFrames(t *testing.T) {
	flipped := linktest.Bytes(data(0, []byte("abcd")), true)
	flipped[len(flipped)-1] ^= 1
	long := linktest.Bytes(data(0, make([]byte, maxChunk+10)), true)
	cut := len(long) - 10
	tests := map[string][][]byte{
		"ack":            {linktest.Bytes(ring.Frame{Kind: ring.KindAck}, false)},
		"kind=9":         {linktest.Bytes(ring.Frame{Kind: 9}, false)},
		"flipped":        {flipped},
		"no payload":     {flipped[:ring.FrameHeaderBytes]},
		"too much":       {append(linktest.Bytes(data(0, nil), false), 1)},
		"too long":       {linktest.Bytes(data(0, make([]byte, maxChunk)), true), linktest.Bytes(data(1, make([]byte, maxChunk+101)), true)[:ring.FrameHeaderBytes]},
		"rest too short": {long[:cut], long[cut:][:9]},
		"rest too long":  {long[:cut], append(slices.Clone(long[cut:]), 1)},
	}
	for name, messages := range tests {
		t.Run("frame="+name, func(t *testing.T) {
			s, left, _ := stage(t)
			for _, b := range messages {
				send(t, left.stream, b)
			}
			into := make([]byte, maxChunk+101)
			var err error
			for err == nil {
				_, err = s.Link.Recv(t.Context(), into[:maxChunk+100])
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

// TestBadAcks verifies that the sender refuses acknowledgements of frames that it has not
// sent, and those with a payload.
func TestBadAcks(t *testing.T) {
	for name, f := range map[string]ring.Frame{
		"never sent": {Kind: ring.KindAck, Generation: linktest.Generation, Op: 1},
		"payload":    {Kind: ring.KindAck, Generation: linktest.Generation, Payload: []byte("x")},
		"data":       {Kind: ring.KindData, Generation: linktest.Generation},
	} {
		t.Run("ack="+name, func(t *testing.T) {
			s, _, right := stage(t)
			send(t, right.stream, linktest.Bytes(f, false))
			<-s.Link.(*link).out.ended
			if err := s.Link.Send(t.Context(), data(0, nil)); !errors.Is(err, ring.ErrCorruptFrame) {
				t.Errorf("error %v, want ring.ErrCorruptFrame", err)
			}
		})
	}
}

// TestAcks verifies that acknowledgements come where the protocol says.
func TestAcks(t *testing.T) {
	s, left, _ := stage(t)
	const frames = 9
	go func() {
		for op := range uint64(frames) {
			left.stream.SendMsg(&outMessage{head: linktest.Bytes(data(op, make([]byte, maxChunk)), false)})
		}
	}()
	into := make([]byte, maxChunk)
	for range frames {
		if _, err := s.Link.Recv(t.Context(), into); err != nil {
			t.Fatal(err)
		}
	}
	var acked []uint64
	for range 2 {
		var m inMessage
		if err := left.stream.RecvMsg(&m); err != nil {
			t.Fatal(err)
		}
		h, err := ring.ParseFrameHeader(m.data.Materialize())
		if err != nil || h.Kind != ring.KindAck || h.Generation != linktest.Generation {
			t.Fatalf("header %+v, %v, want an acknowledgement", h, err)
		}
		acked = append(acked, h.Op)
	}
	if want := []uint64{3, 7}; !slices.Equal(acked, want) {
		t.Errorf("acknowledged %v, want %v", acked, want)
	}
}

// TestCloseWaits verifies that Close does not end the stream before the neighbour has taken
// the frames that gRPC holds.
func TestCloseWaits(t *testing.T) {
	s, _, right := stage(t)
	if err := s.Link.Send(t.Context(), data(0, []byte("last"))); err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		s.Link.Close()
		close(closed)
	}()
	for _, want := range []ring.Frame{data(0, []byte("last")), {Kind: ring.KindClose, Generation: linktest.Generation}} {
		select {
		case <-closed:
			t.Fatalf("closed before kind %d was taken", want.Kind)
		default:
		}
		var m inMessage
		if err := right.stream.RecvMsg(&m); err != nil {
			t.Fatal(err)
		}
		if got := m.data.Materialize(); !slices.Equal(got, linktest.Bytes(want, want.Kind == ring.KindData)) {
			t.Errorf("received %x, want kind %d", got, want.Kind)
		}
	}
	right.Close()
	<-closed
}

// TestDelivers verifies that a rank that sends and closes loses no frames.
func TestDelivers(t *testing.T) {
	linktest.CheckDelivery(t, openRing(t, 2, Config{}))
}

// TestContext verifies that no operation begins on a context that has ended.
func TestContext(t *testing.T) {
	linktest.CheckContexts(t, openRing(t, 2, Config{})[0])
}

// TestAllocations verifies that a frame allocates no more than expected: not its payload, for
// instance.
func TestAllocations(t *testing.T) {
	for n, most := range map[int]float64{64: 20, maxChunk: 40} {
		got := linktest.Allocations(t, openRing(t, 2, Config{}), n)
		t.Logf("bytes=%d: %v allocations per frame", n, got)
		if got > most {
			t.Errorf("bytes=%d: %v allocations per frame, want at most %v", n, got, most)
		}
	}
}
