package ring_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// TestBarrier verifies that no rank leaves the barrier before the last one has come.
func TestBarrier(t *testing.T) {
	for _, p := range []int{1, 2, 3, 5, 17} {
		var come atomic.Int64
		ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
			for round := range 20 {
				come.Add(1)
				if err := g.Barrier(t.Context()); err != nil {
					return err
				}
				if n := int(come.Load()); n < (round+1)*p {
					return fmt.Errorf("p=%d: left barrier %d when %d had come, want %d", p, round, n, (round+1)*p)
				}
			}
			return nil
		})
	}
}

// TestAlone verifies that a single rank needs no link and keeps its buffer and its bytes.
func TestAlone(t *testing.T) {
	g, err := ring.New(t.Context(), ringtest.Membership(1, 0), ring.Transport{}, ring.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	buf := []float32{1.0000001, 2, 3}
	if err := g.AllReduce(t.Context(), ring.Reduction{Buf: buf, Tails: make([]byte, ring.TailBytes)}); err != nil || buf[0] != 1.0000001 {
		t.Errorf("all-reduce: %v, %v", buf, err)
	}
	var dst ring.Gathered
	if err := g.AllGather(t.Context(), []byte("x"), &dst); err != nil || string(dst.At(0)) != "x" {
		t.Errorf("all-gather: %q, %v", dst.At(0), err)
	}
	if err := errors.Join(g.Broadcast(t.Context(), 0, nil, nil), g.Barrier(t.Context()), g.Close(), g.Close()); err != nil {
		t.Error(err)
	}
	if err := g.Barrier(t.Context()); !errors.Is(err, ring.ErrGenerationEnded) {
		t.Errorf("error after Close is %v, want ring.ErrGenerationEnded", err)
	}
}

// TestArena verifies that arenas begin at a cache line and share no memory.
func TestArena(t *testing.T) {
	g, err := ring.New(t.Context(), ringtest.Membership(1, 0), ring.Transport{}, ring.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 15, 16, 17, 1000, 100_000} {
		a, err := g.Arena(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		if len(a) != n || cap(a) != n || uintptr(unsafe.Pointer(unsafe.SliceData(a)))%64 != 0 {
			t.Errorf("arena of %d: length %d, capacity %d, address %p", n, len(a), cap(a), a)
		}
		for i, v := range a {
			if v != 0 {
				t.Fatalf("arena of %d: element %d is %g, want 0", n, i, v)
			}
		}
	}
}

// TestSentBytes verifies that the bytes that a rank reports are those of the ring's bound plus
// headers, and that bytes within a host do not count as between hosts.
func TestSentBytes(t *testing.T) {
	const p, n = 4, 4096
	links := memlink.Ring(p)
	groups := make([]*ring.Group, p)
	for rank := range groups {
		m := ringtest.Membership(p, rank)
		m.Workers[2].HostID, m.Workers[3].HostID = "other", "other"
		var err error
		if groups[rank], err = ring.New(t.Context(), m, ring.Transport{Ring: links[rank]}, small(nil)); err != nil {
			t.Fatal(err)
		}
		defer groups[rank].Close()
	}
	done := make(chan error, p)
	for _, g := range groups {
		go func() { done <- g.AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, n)}) }()
	}
	for range p {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	want := int64(2 * (p - 1) * (4*n/p + n/p/256*ring.FrameHeaderBytes))
	for rank, g := range groups {
		total, between := g.SentBytes()
		if total != want || between != want*int64(rank%2) { // ranks 1 and 3 send to the other host
			t.Errorf("rank %d: sent %d bytes, %d between hosts, want %d and %d", rank, total, between, want, want*int64(rank%2))
		}
	}
}

// TestNewRefuses verifies that New refuses options that cannot work, and that its message says
// what is wanted.
func TestNewRefuses(t *testing.T) {
	good := ring.DefaultConfig()
	for _, tt := range []struct {
		name string
		m    ring.Membership
		c    ring.Config
		want string
	}{
		{"segment=0", ringtest.Membership(1, 0), ring.Config{OpTimeout: 1}, "segment is 0 elements, want a multiple of 256"},
		{"segment=300", ringtest.Membership(1, 0), ring.Config{SegmentElements: 300, OpTimeout: 1}, "segment is 300"},
		{"segment=4194304", ringtest.Membership(1, 0), ring.Config{SegmentElements: 1 << 22, OpTimeout: 1}, "segment is 4194304"},
		{"timeout=0", ringtest.Membership(1, 0), ring.Config{SegmentElements: 256}, "timeout of an operation is 0s, want more"},
		{"rank=2", ring.Membership{Rank: 2, Workers: make([]ring.Worker, 2)}, good, "rank is 2, want 0 to 1"},
		{"size=0", ring.Membership{}, good, "rank is 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ring.New(t.Context(), tt.m, ring.Transport{}, tt.c); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestCallersBugs verifies that a wrong call panics at once with a message that says what is
// wrong.
func TestCallersBugs(t *testing.T) {
	g, err := ring.New(t.Context(), ringtest.Membership(1, 0), ring.Transport{}, ring.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	for want, call := range map[string]func(){
		"ring: residual is not of the buffer's length": func() {
			_ = g.AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, 2), Residual: make([]float32, 1)})
		},
		"ring: tails are not of size times TailBytes": func() {
			_ = g.AllReduce(t.Context(), ring.Reduction{Tails: make([]byte, 1)})
		},
		"ring: root is not a rank": func() { _ = g.Broadcast(t.Context(), 1, nil, nil) },
		"ring: no link": func() {
			_, _ = ring.New(t.Context(), ringtest.Membership(2, 0), ring.Transport{}, ring.DefaultConfig())
		},
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			call()
		}()
	}
}

// TestContexts verifies that the end of a context, of the operation or of the generation, ends
// a waiting operation within a tenth of a second with the cause of the context, and ends all
// later operations.
func TestContexts(t *testing.T) {
	cause := exitcode.With(exitcode.Terminated, errors.New("stopped by SIGTERM"))
	for _, whose := range []string{"operation", "generation"} {
		t.Run("context="+whose, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(context.Background())
				groupCtx, opCtx := context.Background(), ctx
				if whose == "generation" {
					groupCtx, opCtx = ctx, groupCtx
				}
				g, err := ring.New(groupCtx, ringtest.Membership(3, 1), ring.Transport{Ring: memlink.Ring(3)[1]}, ring.DefaultConfig())
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(time.Second, func() { cancel(cause) })
				start := time.Now()
				err = g.AllReduce(opCtx, ring.Reduction{Buf: make([]float32, 10)})
				pe, ok := errors.AsType[*ring.PeerError](err)
				if !ok || pe.Rank != 0 || !errors.Is(err, cause) || exitcode.Of(err) != exitcode.Terminated {
					t.Errorf("error %v with exit code %d, want one that names rank 0 and %v", err, exitcode.Of(err), cause)
				}
				if took := time.Since(start); took > 1100*time.Millisecond {
					t.Errorf("took %v, want at most 1.1s", took)
				}
				err = g.Barrier(context.Background())
				if !errors.Is(err, ring.ErrGenerationEnded) || !errors.Is(err, cause) {
					t.Errorf("later error %v, want ring.ErrGenerationEnded and %v", err, cause)
				}
				if err := g.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestEndedContext verifies that no operation starts under a context that has ended, and that
// its error names no neighbour, not even the one that the operation before it has waited for.
func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("over")
	cancel(cause)
	links := memlink.Ring(2)
	var groups []*ring.Group
	var ranks errgroup.Group
	for rank := range links {
		g, err := ring.New(context.Background(), ringtest.Membership(2, rank), ring.Transport{Ring: links[rank]}, ring.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		groups = append(groups, g)
		ranks.Go(func() error { return g.Barrier(context.Background()) })
	}
	if err := ranks.Wait(); err != nil {
		t.Fatal(err)
	}
	err := groups[1].Barrier(ctx)
	if _, named := errors.AsType[*ring.PeerError](err); named || !errors.Is(err, cause) {
		t.Errorf("error %v, want %v and no neighbour", err, cause)
	}
}

// TestCloseDuringOperation verifies that Close does not wait for a neighbour, and returns only
// after the operation has stopped to use its buffer.
func TestCloseDuringOperation(t *testing.T) {
	for _, n := range []int{10, 1 << 20} { // below and above the limit of eager sends
		synctest.Test(t, func(t *testing.T) {
			g, err := ring.New(context.Background(), ringtest.Membership(3, 0), ring.Transport{Ring: memlink.Ring(3)[0]}, ring.DefaultConfig())
			if err != nil {
				t.Fatal(err)
			}
			got := make(chan error, 1)
			go func() { got <- g.AllReduce(context.Background(), ring.Reduction{Buf: make([]float32, n)}) }()
			synctest.Wait()
			if err := g.Close(); err != nil {
				t.Error(err)
			}
			if err := <-got; !errors.Is(err, ring.ErrClosed) {
				t.Errorf("error %v, want ring.ErrClosed", err)
			}
		})
	}
}

// TestWaiting verifies that a waiting group reports for whom, in which operation and since when
// it waits.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := make(chan struct{})
		groups := make(chan *ring.Group, 1)
		done := make(chan struct{})
		begin := time.Now()
		go func() {
			defer close(done)
			ringtest.Run(t, 3, ring.DefaultConfig(), func(g *ring.Group) error {
				if err := g.Barrier(t.Context()); err != nil {
					return err
				}
				switch g.Membership().Rank {
				case 1:
					groups <- g
				case 0:
					<-late
				}
				return g.AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, 3)})
			})
		}()
		g := <-groups
		time.Sleep(10 * time.Second)
		w := g.Waiting()
		if w.Operation != "all-reduce" || w.Seq != 1 || w.Elements != 3 || w.Peer != 0 || w.Since.Sub(begin) > 100*time.Millisecond {
			t.Errorf("waits in %+v; want all-reduce 1 of 3 elements, for rank 0, since the start", w)
		}
		close(late)
		<-done
		if w := g.Waiting(); w != (ring.Wait{Seq: 2, Peer: -1}) {
			t.Errorf("waits in %+v after the end, want nothing, and operation 2 next", w)
		}
	})
}
