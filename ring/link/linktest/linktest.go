// Package linktest is the conformance suite of ring.Link and ring.Memory: the properties on
// which a Group relies.
package linktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"ringtrain/ring"
)

// Generation is the generation of the frames that the suite sends. Operations count from 0,
// and segments from 0 in each operation.
const Generation = 1

// testTimeout bounds each case. A case that runs longer is stuck, and its links are
// closed.
const testTimeout = 30 * time.Second

// Run verifies the contract of ring.Link for the links that open returns, by rank, in a ring
// of p. One case uses the links of one call, which are closed at its end. open may register
// its own cleanup with t.
func Run(t *testing.T, open func(t *testing.T, p int) []ring.Link) {
	cases := []struct {
		name string
		test func(t *testing.T, links []ring.Link)
	}{
		{"in order and whole", testOrder},
		{"send and receive at once", testBothWays},
		{"payload reused after send", testReuse},
		{"payload lies in into", testInto},
		{"one frame without a receiver", testTakesOne},
		{"payload too long", testTooLong},
		{"close unblocks receive", testCloseUnblocksRecv},
		{"close unblocks send", testCloseUnblocksSend},
		{"close twice", testCloseTwice},
		{"neighbour closes", testNeighbourCloses},
		{"neighbour closes after sending", testLastFrames},
	}
	runPrompt(t, open)
	for _, p := range []int{2, 3, 5} {
		for _, c := range cases {
			t.Run(fmt.Sprintf("p=%d/%s", p, c.name), func(t *testing.T) {
				links := open(t, p)
				if len(links) != p {
					t.Fatalf("%d links, want %d", len(links), p)
				}
				if p == 2 {
					links = withTrySend(links)
				}
				closeAll := func() {
					for _, l := range links {
						l.Close()
					}
				}
				stuck := time.AfterFunc(testTimeout, closeAll)
				defer closeAll()
				defer stuck.Stop()
				c.test(t, links)
			})
		}
	}
}

// frame returns frame number i of a stream, with payload.
func frame(i int, payload []byte) ring.Frame {
	const perOp = 3 // so that operation and segment both change
	return ring.Frame{
		Kind: ring.KindData, Codec: uint8(i % 4), Generation: Generation,
		Op: uint64(i / perOp), Segment: uint32(i % perOp), Payload: payload,
	}
}

// payload returns n bytes that depend on the sending rank and on i.
func payload(rank, i, n int) []byte {
	b := make([]byte, n)
	src := rand.NewChaCha8([32]byte{byte(rank), byte(i), byte(i >> 8)})
	_, _ = src.Read(b)
	return b
}

// equal compares a received frame with the one sent.
func equal(got, want ring.Frame) error {
	if !bytes.Equal(got.Payload, want.Payload) {
		return fmt.Errorf("operation %d, segment %d: payload of %d bytes is not the one of %d bytes that was sent",
			want.Op, want.Segment, len(got.Payload), len(want.Payload))
	}
	got.Payload, want.Payload = nil, nil
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		return fmt.Errorf("received frame %s, want %s", g, w)
	}
	return nil
}

// around makes every rank send frames of the given sizes to the right while it receives those
// of its left neighbour.
func around(links []ring.Link, sizes []int) error {
	var g errgroup.Group
	for rank, l := range links {
		leftRank := (rank + len(links) - 1) % len(links)
		g.Go(func() error {
			for i, n := range sizes {
				if err := l.Send(context.Background(), frame(i, payload(rank, i, n))); err != nil {
					return fmt.Errorf("rank %d: send %d: %w", rank, i, err)
				}
			}
			return nil
		})
		g.Go(func() error {
			for i, n := range sizes {
				got, err := l.Recv(context.Background(), make([]byte, n))
				if err != nil {
					return fmt.Errorf("rank %d: receive %d: %w", rank, i, err)
				}
				if err := equal(got, frame(i, payload(leftRank, i, n))); err != nil {
					return fmt.Errorf("rank %d: %w", rank, err)
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// testOrder verifies that frames of all sizes arrive whole, once and in order.
func testOrder(t *testing.T, links []ring.Link) {
	sizes := []int{0, 1, 2, 3, 63, 64, 65, 0, 0, 255, 4095, 4096, 4097, 65535, 65536, 1 << 18, 1, 1<<20 - 1, 1 << 20, 0}
	if err := around(links, sizes); err != nil {
		t.Error(err)
	}
}

// testBothWays verifies that a rank can send much while it receives much. With more bytes in
// flight than all buffers hold, a ring of other links would not start.
func testBothWays(t *testing.T, links []ring.Link) {
	sizes := make([]int, 24)
	for i := range sizes {
		sizes[i] = 512 << 10
	}
	if err := around(links, sizes); err != nil {
		t.Error(err)
	}
}

// testReuse verifies that a link does not use the caller's payload after Send.
func testReuse(t *testing.T, links []ring.Link) {
	const frames, n = 40, 5000
	var g errgroup.Group
	g.Go(func() error {
		buf := make([]byte, n)
		for i := range frames {
			copy(buf, payload(0, i, n))
			if err := links[0].Send(t.Context(), frame(i, buf)); err != nil {
				return err
			}
			clear(buf)
		}
		return nil
	})
	into := make([]byte, n)
	for i := range frames {
		got, err := links[1].Recv(t.Context(), into)
		if err == nil {
			err = equal(got, frame(i, payload(0, i, n)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

// testInto verifies that a payload lies at the start of the given buffer, and that the bytes
// behind it are unchanged: the buffer is part of the gradients.
func testInto(t *testing.T, links []ring.Link) {
	want := payload(0, 0, 100)
	if err := links[0].Send(t.Context(), frame(0, want)); err != nil {
		t.Fatal(err)
	}
	into := bytes.Repeat([]byte{0xa5}, 200)
	got, err := links[1].Recv(t.Context(), into)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Payload) != len(want) || &got.Payload[0] != &into[0] || !bytes.Equal(into[:100], want) {
		t.Error("the payload does not lie at the start of into")
	}
	if !bytes.Equal(into[100:], bytes.Repeat([]byte{0xa5}, 100)) {
		t.Error("bytes behind the payload have changed")
	}
}

// testTakesOne verifies that each rank can send a small frame before any rank receives, as
// small operations do.
func testTakesOne(t *testing.T, links []ring.Link) {
	const n = 64 << 10
	for round := range 3 {
		for rank, l := range links {
			if err := l.Send(t.Context(), frame(round, payload(rank, round, n))); err != nil {
				t.Fatalf("rank %d: send: %v", rank, err)
			}
		}
		for rank, l := range links {
			got, err := l.Recv(t.Context(), make([]byte, n))
			if err == nil {
				err = equal(got, frame(round, payload((rank+len(links)-1)%len(links), round, n)))
			}
			if err != nil {
				t.Fatalf("rank %d: receive: %v", rank, err)
			}
		}
	}
}

// testTooLong verifies that a payload that is longer than expected is refused, and neither
// cut nor written over other memory.
func testTooLong(t *testing.T, links []ring.Link) {
	if err := links[0].Send(t.Context(), frame(0, payload(0, 0, 1025))); err != nil {
		t.Fatal(err)
	}
	if _, err := links[1].Recv(t.Context(), make([]byte, 1024)); !errors.Is(err, ring.ErrCorruptFrame) {
		t.Errorf("error %v, want ring.ErrCorruptFrame", err)
	}
}

// testCloseUnblocksRecv verifies that Close ends a Recv that waits for a dead neighbour.
func testCloseUnblocksRecv(t *testing.T, links []ring.Link) {
	entered, got := make(chan struct{}), make(chan error, 1)
	go func() {
		close(entered)
		_, err := links[1].Recv(t.Context(), make([]byte, 1))
		got <- err
	}()
	<-entered
	if err := links[1].Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-got; !errors.Is(err, ring.ErrClosed) {
		t.Errorf("error %v, want ring.ErrClosed", err)
	}
}

// testCloseUnblocksSend verifies that Close ends a Send to a neighbour that does not receive.
func testCloseUnblocksSend(t *testing.T, links []ring.Link) {
	sent, got := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		buf := make([]byte, 1<<20)
		for i := 0; ; i++ {
			if err := links[0].Send(t.Context(), frame(i, buf)); err != nil {
				got <- err
				return
			}
			select {
			case sent <- struct{}{}:
			default:
			}
		}
	}()
	<-sent
	if err := links[0].Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-got; !errors.Is(err, ring.ErrClosed) {
		t.Errorf("error %v, want ring.ErrClosed", err)
	}
}

// testCloseTwice verifies that several goroutines may call Close, and that a closed link
// returns ring.ErrClosed.
func testCloseTwice(t *testing.T, links []ring.Link) {
	var g errgroup.Group
	for range 4 {
		g.Go(links[0].Close)
	}
	if err := g.Wait(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := links[0].Send(t.Context(), frame(0, nil)); !errors.Is(err, ring.ErrClosed) {
		t.Errorf("send: error %v, want ring.ErrClosed", err)
	}
	if _, err := links[0].Recv(t.Context(), nil); !errors.Is(err, ring.ErrClosed) {
		t.Errorf("receive: error %v, want ring.ErrClosed", err)
	}
}

// testNeighbourCloses verifies that a rank does not wait for ever for a neighbour that has
// closed its link.
func testNeighbourCloses(t *testing.T, links []ring.Link) {
	if err := links[0].Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := links[1].Recv(t.Context(), make([]byte, 1)); err == nil || errors.Is(err, ring.ErrClosed) {
		t.Errorf("receive: error %v, want one that is not ring.ErrClosed: this side is open", err)
	}
	last := len(links) - 1
	buf := make([]byte, 1<<16)
	for i := 0; ; i++ { // frames that the link has accepted may be lost, but Send must report the loss in the end
		if err := links[last].Send(t.Context(), frame(i, buf)); err != nil {
			if errors.Is(err, ring.ErrClosed) {
				t.Errorf("send: error %v, want one that is not ring.ErrClosed: this side is open", err)
			}
			return
		}
	}
}

// testLastFrames verifies that frames sent before an orderly Close arrive: the first rank to
// finish must not end the others' last operation.
func testLastFrames(t *testing.T, links []ring.Link) {
	const frames, n = 3, 1000
	for i := range frames {
		if err := links[0].Send(t.Context(), frame(i, payload(0, i, n))); err != nil {
			t.Fatal(err)
		}
	}
	closed := make(chan error, 1)
	go func() { closed <- links[0].Close() }() // may wait for the neighbour to receive
	for i := range frames {
		got, err := links[1].Recv(t.Context(), make([]byte, n))
		if err == nil {
			err = equal(got, frame(i, payload(0, i, n)))
		}
		if err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
	}
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
}
