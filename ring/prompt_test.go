package ring_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"unsafe"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// hesitant is a link that takes one in each tries of a frame, 0 for none. Send
// returns errContract if the caller breaks the contract of TrySend.
type hesitant struct {
	ring.Link
	each      int
	chance    rand.Rand
	taken, on int   // frames accepted by the first and by a later call of TrySend
	rest      *byte // payload of the frame that TrySend did not accept
	idle      func(last bool)
}

var errContract = errors.New("not the frame that was tried is sent")

func (h *hesitant) TrySend(f ring.Frame) bool {
	payload := unsafe.SliceData(f.Payload)
	if h.rest != nil && h.rest != payload {
		return false // Send reports errContract
	}
	if h.each > 0 && h.chance.IntN(h.each) == 0 {
		if h.rest == nil {
			h.taken++
		} else {
			h.on++
		}
		h.rest = nil
		return h.Link.Send(context.Background(), f) == nil
	}
	h.rest = payload
	return false
}

// Notify keeps idle: Recv of the link below may run on another goroutine.
func (h *hesitant) Notify(idle func(last bool), aborted func(*ring.Abort)) {
	h.idle = idle
	h.Link.Notify(nil, aborted)
}

// Recv calls idle twice before it blocks, unless a frame is known to be there.
func (h *hesitant) Recv(ctx context.Context, into []byte) (ring.Frame, error) {
	if a, ok := h.Link.(*ahead); !ok || len(a.there) == 0 {
		h.idle(false)
		h.idle(true)
	}
	return h.Link.Recv(ctx, into)
}

// ahead is a link that receives before its caller asks.
type ahead struct {
	ring.Link
	there chan ring.Frame
}

func readAhead(l ring.Link) *ahead { return &ahead{Link: l, there: make(chan ring.Frame, 1000)} }

// Notify begins to receive: a link must not be told later.
func (a *ahead) Notify(idle func(last bool), aborted func(*ring.Abort)) {
	a.Link.Notify(idle, aborted)
	go func() {
		defer close(a.there)
		for {
			f, err := a.Link.Recv(context.Background(), make([]byte, ring.MaxPayloadBytes>>4))
			if err != nil {
				return
			}
			a.there <- f
		}
	}()
}

func (a *ahead) Recv(_ context.Context, into []byte) (ring.Frame, error) {
	f, ok := <-a.there
	if !ok {
		return f, ring.ErrClosed
	}
	f.Payload = into[:copy(into, f.Payload)]
	return f, nil
}

func (h *hesitant) Send(ctx context.Context, f ring.Frame) error {
	if h.rest != nil && h.rest != unsafe.SliceData(f.Payload) {
		return errContract
	}
	h.rest = nil
	return h.Link.Send(ctx, f)
}

func hesitate(l ring.Link, each int) *hesitant {
	return &hesitant{Link: l, each: each, chance: *rand.New(rand.NewPCG(1, 0))}
}

// hesitateAll makes all links of mesh hesitant and returns them.
func hesitateAll(mesh []ring.Transport) (all []*hesitant) {
	wrap := func(l *ring.Link) {
		if *l != nil {
			h := hesitate(readAhead(*l), 2)
			*l, all = h, append(all, h)
		}
	}
	for rank := range mesh {
		wrap(&mesh[rank].Ring)
		for k := range mesh[rank].Rounds {
			wrap(&mesh[rank].Rounds[k])
		}
	}
	return all
}

// longFrames returns a Config with frames of more than 64 KiB.
func longFrames(t *testing.T, name string) ring.Config {
	cfg := by(t, name)
	cfg.SegmentElements = ring.DefaultConfig().SegmentElements
	return cfg
}

// TestPromptSums verifies sums if the receiving goroutine sends some frames, the sender sends
// others, and both send parts of the same frame. It verifies that the receiving goroutine sends
// some.
func TestPromptSums(t *testing.T) {
	const n = 140_001
	for _, name := range []string{"ring", "halving"} {
		for _, p := range []int{2, 3, 5} {
			t.Run(fmt.Sprintf("by=%s/p=%d", name, p), func(t *testing.T) {
				mesh := memlink.Mesh(p)
				all := hesitateAll(mesh)
				testRounds(t, longFrames(t, name), mesh, inputs(p, n), []int{n})
				taken, on := 0, 0
				for _, l := range all {
					taken, on = taken+l.taken, on+l.on
				}
				if taken == 0 || on == 0 {
					t.Errorf("%d frames were sent at once, and %d later by who received, want some of each", taken, on)
				}
			})
		}
	}
}

// TestPromptCodecs verifies that a frame that was tried is neither encoded again nor replaced by
// another one.
func TestPromptCodecs(t *testing.T) {
	const p, n = 3, 200_000
	for _, c := range codec.All() {
		mesh := memlink.Mesh(p)
		hesitateAll(mesh)
		sums := make([][]float32, p)
		overMesh(t, mesh, longFrames(t, "ring"), func(g *ring.Group) error {
			rank := g.Membership().Rank
			r := ring.Reduction{Codec: c, Residual: make([]float32, n), Tails: make([]byte, p*ring.TailBytes)}
			for range 3 {
				r.Buf = make([]float32, n)
				for i := range r.Buf {
					r.Buf[i] = float32(rank + i%5)
				}
				copy(r.Tails[rank*ring.TailBytes:], fmt.Sprint("rank ", rank))
				if err := g.AllReduce(t.Context(), r); err != nil {
					return err
				}
			}
			for other := range p {
				if got, want := string(r.Tails[other*ring.TailBytes:][:6]), fmt.Sprint("rank ", other); got != want {
					return fmt.Errorf("tail of rank %d is %q, want %q", other, got, want)
				}
			}
			sums[rank] = r.Buf
			return nil
		})
		for rank, sum := range sums {
			for i, got := range sum {
				if want := float32(3 + 3*(i%5)); got < want-0.5 || got > want+0.5 || got != sums[0][i] {
					t.Fatalf("codec %v, rank %d: element %d is %v, rank 0 has %v, want about %v", c, rank, i, got, sums[0][i], want)
				}
			}
		}
	}
}

// TestPromptUnbuffered verifies that the receiving goroutine does not wait for a frame that was
// tried. Over links that hold no frame all ranks would stop, which the bubble notices.
func TestPromptUnbuffered(t *testing.T) {
	for _, p := range []int{2, 3, 8} {
		synctest.Test(t, func(t *testing.T) {
			mesh := make([]ring.Transport, p)
			for rank, l := range unbufferedRing(p) {
				mesh[rank].Ring = hesitate(l, 0)
			}
			overMesh(t, mesh, longFrames(t, "ring"), func(g *ring.Group) error {
				return g.AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, 200_000)})
			})
		})
	}
}

// TestPromptFault verifies that a link that breaks in the middle of a frame ends the operation
// and that the error names the neighbour.
func TestPromptFault(t *testing.T) {
	const p, n = 3, 200_000
	links := memlink.Ring(p)
	links[1] = hesitate(ringtest.WithFault(links[1], ringtest.Fault{Op: 1, Segment: 1, Kind: ringtest.Cut}), 0)
	ringtest.RunOver(t, links, longFrames(t, "ring"), func(g *ring.Group) error {
		var err error
		for op := 0; op < 2 && err == nil; op++ {
			err = g.AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, n)})
		}
		if g.Membership().Rank != 1 {
			if err == nil {
				return errors.New("no error, want one")
			}
			return g.Close()
		}
		if peer, ok := errors.AsType[*ring.PeerError](err); !ok || peer.Rank != 2 || !errors.Is(err, ringtest.ErrCut) {
			return fmt.Errorf("error %w (code %d), want ringtest.ErrCut about rank 2", err, exitcode.Of(err))
		}
		return g.Close()
	})
}

// TestPromptAllocates verifies that a frame that is tried allocates nothing.
func TestPromptAllocates(t *testing.T) {
	const p, n = 3, 70_000
	links := memlink.Ring(p)
	for rank, l := range links {
		links[rank] = hesitate(l, 2)
	}
	ringtest.RunOver(t, links, longFrames(t, "ring"), func(g *ring.Group) error {
		r := ring.Reduction{Buf: make([]float32, n)}
		got, err := allocationsOf(g, func() error { return g.AllReduce(t.Context(), r) })
		if err == nil && got != 0 {
			err = fmt.Errorf("%v allocations per all-reduce of all ranks, want 0", got)
		}
		return err
	})
}
