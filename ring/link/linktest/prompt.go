package linktest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"ringtrain/ring"
)

// WithTrySend returns l with a Send that calls TrySend twice first.
func WithTrySend(l ring.Link) ring.Link { return trySendLink{l} }

func withTrySend(links []ring.Link) []ring.Link {
	all := make([]ring.Link, len(links))
	for rank, l := range links {
		all[rank] = WithTrySend(l)
	}
	return all
}

type trySendLink struct{ ring.Link }

func (l trySendLink) Send(ctx context.Context, f ring.Frame) error {
	for range 2 {
		if ctx.Err() == nil && l.TrySend(f) {
			return nil
		}
	}
	return l.Link.Send(ctx, f)
}

// runPrompt verifies the contract of TrySend and of idle.
func runPrompt(t *testing.T, open func(t *testing.T, p int) []ring.Link) {
	cases := []struct {
		name string
		test func(t *testing.T, links []ring.Link)
	}{
		{"rest of a frame", testRest},
		{"close before the rest", testCloseBegun},
		{"idle", testIdle},
	}
	for _, c := range cases {
		t.Run("prompt/"+c.name, func(t *testing.T) {
			links := open(t, 2)
			for _, l := range links {
				defer l.Close()
				defer time.AfterFunc(testTimeout, func() { l.Close() }).Stop()
			}
			c.test(t, links)
		})
	}
}

// testRest verifies that two ranks do not block each other when both try to send more than the
// link holds before either receives. It also verifies that a frame sent in parts arrives
// whole, once, and before the next.
func testRest(t *testing.T, links []ring.Link) {
	sizes := []int{100, ring.MaxPayloadBytes, 100}
	var g errgroup.Group
	for i, n := range sizes {
		for rank, l := range links {
			f := frame(i, payload(rank, i, n))
			sent := l.TrySend(f)
			if sent && n == ring.MaxPayloadBytes {
				t.Fatalf("rank %d: a frame of %d bytes is sent, although no rank receives", rank, n)
			}
			if !sent {
				g.Go(func() error { return l.Send(t.Context(), f) })
			}
		}
		for rank, l := range links {
			g.Go(func() error {
				got, err := l.Recv(t.Context(), make([]byte, n))
				if err != nil {
					return err
				}
				return equal(got, frame(i, payload(1-rank, i, n)))
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatalf("bytes=%d: %v", n, err)
		}
	}
}

// testCloseBegun verifies that Close does not wait for the rest of a frame.
func testCloseBegun(t *testing.T, links []ring.Link) {
	f := frame(0, make([]byte, ring.MaxPayloadBytes))
	if links[0].TrySend(f) {
		t.Fatal("the frame is sent, although no rank receives")
	}
	if err := links[0].Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := links[0].Send(t.Context(), f); !errors.Is(err, ring.ErrClosed) {
		t.Errorf("send: error %v, want ring.ErrClosed", err)
	}
}

// testIdle verifies that a receiving rank calls the idle function before it sleeps, on the
// receiving goroutine only.
func testIdle(t *testing.T, links []ring.Link) {
	if err := checkIdle(t.Context(), links[0], links[1], 3, 1<<20); err != nil {
		t.Error(err)
	}
}

// checkIdle sends frames of n bytes to a link, each after the link has reported that it
// sleeps with nothing to read. The race detector verifies that the report comes on the
// receiving goroutine.
func checkIdle(ctx context.Context, from, to ring.Link, frames, n int) error {
	receives, told := -1, -1
	ask := make(chan struct{}, frames)
	early := false
	to.Notify(func(last bool) {
		early = early || receives < 0
		if last && told < receives {
			told = receives
			ask <- struct{}{}
		}
	}, func(*ring.Abort) {})
	var g errgroup.Group
	g.Go(func() error {
		for i := range frames {
			select {
			case <-ask:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := from.Send(ctx, frame(i, payload(0, i, n))); err != nil {
				return err
			}
		}
		return nil
	})
	into := make([]byte, n)
	for i := range frames {
		receives = i
		got, err := to.Recv(ctx, into)
		if err == nil {
			err = equal(got, frame(i, payload(0, i, n)))
		}
		if err != nil {
			return fmt.Errorf("frame %d: %w", i, err)
		}
		receives = -1
	}
	if early {
		return errors.New("idle, but it does not receive")
	}
	return g.Wait()
}
