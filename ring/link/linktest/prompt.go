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

// Tried returns l, whose Send tries first, and once more, where it is a ring.PromptLink.
func Tried(l ring.Link) ring.Link {
	if p, ok := l.(ring.PromptLink); ok {
		return trying{p}
	}
	return l
}

func tried(links []ring.Link) []ring.Link {
	all := make([]ring.Link, len(links))
	for rank, l := range links {
		all[rank] = Tried(l)
	}
	return all
}

type trying struct{ ring.PromptLink }

func (l trying) Send(ctx context.Context, f ring.Frame) error {
	for range 2 {
		if ctx.Err() == nil && l.TrySend(f) {
			return nil
		}
	}
	return l.PromptLink.Send(ctx, f)
}

// runPrompt tests what only a ring.PromptLink has.
func runPrompt(t *testing.T, open func(t *testing.T, p int) []ring.Link) {
	cases := []struct {
		name string
		test func(t *testing.T, links []ring.PromptLink)
	}{
		{"rest of a frame", testRest},
		{"close before the rest", testCloseBegun},
		{"idle", testIdle},
	}
	for _, c := range cases {
		t.Run("prompt/"+c.name, func(t *testing.T) {
			var links []ring.PromptLink
			for _, l := range open(t, 2) {
				defer l.Close()
				defer time.AfterFunc(patience, func() { l.Close() }).Stop()
				if p, ok := l.(ring.PromptLink); ok {
					links = append(links, p)
				}
			}
			if len(links) > 0 {
				c.test(t, links)
			}
		})
	}
}

// testRest fails if two ranks stand that both try to send more than the link holds
// before either receives, or if a frame of which a part was sent at once does not
// arrive whole, once and before the next.
func testRest(t *testing.T, links []ring.PromptLink) {
	sizes := []int{100, ring.MaxPayloadBytes, 100}
	var g errgroup.Group
	for i, n := range sizes {
		for rank, l := range links {
			f := frame(i, payload(rank, i, n))
			sent := l.TrySend(f)
			if sent && n == ring.MaxPayloadBytes {
				t.Fatalf("rank %d: a frame of %d bytes is sent, with nobody to receive it", rank, n)
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

// testCloseBegun fails if Close waits for the rest of a frame, which need not come.
func testCloseBegun(t *testing.T, links []ring.PromptLink) {
	f := frame(0, make([]byte, ring.MaxPayloadBytes))
	if links[0].TrySend(f) {
		t.Fatal("the frame is sent, with nobody to receive it")
	}
	if err := links[0].Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := links[0].Send(t.Context(), f); !errors.Is(err, ring.ErrClosed) {
		t.Errorf("send: error %v, want ring.ErrClosed", err)
	}
}

// testIdle sends what a rank receives only once that has nothing to read. It fails if the rank
// sleeps and has not been told, or is told on another goroutine or when it does not receive.
func testIdle(t *testing.T, links []ring.PromptLink) {
	if err := SendsToIdle(t.Context(), links[0], links[1], 3, 1<<20); err != nil {
		t.Error(err)
	}
}

// SendsToIdle has frames of n bytes sent to a link, each once that says that it sleeps
// with nothing to read. Idle must be told on the goroutine that receives: this is for the race
// detector.
func SendsToIdle(ctx context.Context, from ring.Link, to ring.PromptLink, frames, n int) error {
	receives, told := -1, -1
	ask := make(chan struct{}, frames)
	early := false
	to.OnIdle(func(last bool) {
		early = early || receives < 0
		if last && told < receives {
			told = receives
			ask <- struct{}{}
		}
	})
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
