package linktest

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"ringtrain/ring"
)

// Allocations returns the number of allocations of a frame with n bytes of payload on its
// way from links[0] to links[1].
func Allocations(t *testing.T, links []ring.Link, n int) float64 {
	t.Helper()
	payload, into := make([]byte, n), make([]byte, n)
	var op uint64
	return testing.AllocsPerRun(100, func() {
		op++
		if err := links[0].Send(t.Context(), data(op, 0, payload)); err != nil {
			t.Fatal(err)
		}
		if _, err := links[1].Recv(t.Context(), into); err != nil {
			t.Fatal(err)
		}
	})
}

// CheckDelivery verifies that no frame is lost when rank 0 of two sends more than any buffer holds
// and closes at once.
func CheckDelivery(t *testing.T, links []ring.Link) {
	const n, frames = 1 << 20, 24
	var sending sync.WaitGroup
	sending.Go(func() {
		payload := make([]byte, n)
		for op := range uint64(frames) {
			if err := links[0].Send(t.Context(), data(op, 0, payload)); err != nil {
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
	sending.Wait()
}

// CheckContexts verifies that no operation begins on a context that has ended, and that the error
// has the cause.
func CheckContexts(t *testing.T, l ring.Link) {
	cause := errors.New("generation ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := l.Send(ctx, data(0, 0, nil)); !errors.Is(err, cause) {
		t.Errorf("send: error %v, want %v", err, cause)
	}
	if _, err := l.Recv(ctx, nil); !errors.Is(err, cause) {
		t.Errorf("receive: error %v, want %v", err, cause)
	}
}
