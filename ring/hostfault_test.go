package ring_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// faulty returns the options of groups under a fault.
func faulty() ring.Config {
	cfg := small(nil)
	cfg.OpTimeout = faultTimeout
	return cfg
}

// hostPrograms are operations of each kind, on one level or two, by name.
func hostPrograms(t *testing.T) map[string]func(g *ring.Group) error {
	reduce := func(n int, c codec.Codec) func(g *ring.Group) error {
		return func(g *ring.Group) error {
			r := ring.Reduction{Buf: make([]float32, n), Codec: c, Tails: make([]byte, g.Membership().Size()*ring.TailBytes)}
			return g.AllReduce(t.Context(), r)
		}
	}
	return map[string]func(g *ring.Group) error{
		"small":  reduce(10, nil),
		"staged": reduce(5000, nil),
		"int8":   reduce(5000, codec.Int8),
		"arena": func(g *ring.Group) error {
			_, err := g.Arena(t.Context(), 5000)
			return err
		},
		"gather":    func(g *ring.Group) error { return g.AllGather(t.Context(), make([]byte, 100), new(ring.Gathered)) },
		"broadcast": func(g *ring.Group) error { return g.Broadcast(t.Context(), 1, bytes.NewReader(nil), new(bytes.Buffer)) },
		"barrier":   func(g *ring.Group) error { return g.Barrier(t.Context()) },
		"rows":      func(g *ring.Group) error { return sumRowsOnce(t, g) },
	}
}

// TestSilentWorker verifies that ranks end after OpTimeout if a worker never comes, and that
// those of its host name it.
func TestSilentWorker(t *testing.T) {
	for _, hosts := range [][]int{onOne(2), onOne(4), {0, 0, 0, 1, 1}} {
		for name, op := range hostPrograms(t) {
			for silent := range hosts {
				t.Run(fmt.Sprintf("hosts=%v/op=%s/silent=%d", hosts, name, silent), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { testSilentWorker(t, hosts, op, silent) })
				})
			}
		}
	}
}

func testSilentWorker(t *testing.T, hosts []int, op func(g *ring.Group) error, silent int) {
	start := time.Now()
	ringtest.RunOnHosts(t, hosts, faulty(), func(g *ring.Group) error {
		rank := g.Membership().Rank
		if rank == silent {
			return nil
		}
		err := op(g)
		switch {
		case hosts[rank] == hosts[silent]:
			wantPeer(t, err, silent, exitcode.Retry)
		case err == nil:
			return nil // this rank did not need the faulty one
		case exitcode.Of(err) != exitcode.Retry:
			t.Errorf("rank %d: error %v with exit code %d, want %d", rank, err, exitcode.Of(err), exitcode.Retry)
		}
		if got := time.Since(start); got < faultTimeout || got > faultTimeout+500*time.Millisecond {
			t.Errorf("rank %d fails after %v, want %v", rank, got, faultTimeout)
		}
		return nil
	})
}

// TestWorkerEnds verifies that the end of a worker ends the others of its host at once, and
// that they name it.
func TestWorkerEnds(t *testing.T) {
	for _, hosts := range [][]int{onOne(2), onOne(4), {0, 0, 0, 1, 1}} {
		for name, op := range hostPrograms(t) {
			t.Run(fmt.Sprintf("hosts=%v/op=%s", hosts, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					start := time.Now()
					ringtest.RunOnHosts(t, hosts, faulty(), func(g *ring.Group) error {
						rank := g.Membership().Rank
						if rank == 1 {
							synctest.Wait()
							return g.Close()
						}
						err := op(g)
						if hosts[rank] == 0 {
							wantPeer(t, err, 1, exitcode.Retry)
						}
						return nil
					})
					if took := time.Since(start); took > time.Second {
						t.Errorf("took %v, want no wait", took)
					}
				})
			})
		}
	}
}

// TestRanksDiffer verifies that ranks of a host with different operations end with 76 before
// anything is summed, and that the message has what each of two ranks does.
func TestRanksDiffer(t *testing.T) {
	type call func(g *ring.Group, arena []float32) error
	reduce := func(r ring.Reduction) call {
		return func(g *ring.Group, _ []float32) error { return g.AllReduce(t.Context(), r) }
	}
	from := func(lo, hi int) call {
		return func(g *ring.Group, arena []float32) error {
			return g.AllReduce(t.Context(), ring.Reduction{Buf: arena[lo:hi]})
		}
	}
	for _, tt := range []struct {
		name         string
		most, one    call   // the call of most ranks, and that of rank 2 of 4
		says, theirs string // the errors of rank 0 and rank 2
	}{
		{"length", reduce(ring.Reduction{Buf: make([]float32, 10)}), reduce(ring.Reduction{Buf: make([]float32, 11)}),
			"length in elements is 10 on rank 0, 11 on rank 2", "length in elements is 11 on rank 2, 10 on rank 0"},
		{"long", reduce(ring.Reduction{Buf: make([]float32, 10)}), from(0, 5000), "length in elements is 10 on rank 0, 5000 on rank 2", ""},
		{"codec", reduce(ring.Reduction{}), reduce(ring.Reduction{Codec: codec.Int8}), "codec is none on rank 0, int8 on rank 2", ""},
		{"tails", reduce(ring.Reduction{}), reduce(ring.Reduction{Tails: make([]byte, 4*ring.TailBytes)}),
			"number of tails is 0 on rank 0, 1 on rank 2", ""},
		{"offset", from(0, 4000), from(16, 4016), "offset in the arena is 0 on rank 0, 16 on rank 2", ""},
		{"place", from(0, 4000), reduce(ring.Reduction{Buf: make([]float32, 4000)}), "place of the buffer is arena 0 on rank 0, no arena on rank 2", ""},
		{"operation", reduce(ring.Reduction{}), func(g *ring.Group, _ []float32) error { return g.Barrier(t.Context()) },
			"operation is all-reduce on rank 0, barrier on rank 2", "operation is barrier on rank 2, all-reduce on rank 0"},
		{"arena", reduce(ring.Reduction{}), func(g *ring.Group, _ []float32) error { _, err := g.Arena(t.Context(), 1); return err },
			"operation is all-reduce on rank 0, arena on rank 2", ""},
		{"root", func(g *ring.Group, _ []float32) error {
			return g.Broadcast(t.Context(), 0, bytes.NewReader(nil), new(bytes.Buffer))
		},
			func(g *ring.Group, _ []float32) error {
				return g.Broadcast(t.Context(), 2, bytes.NewReader(nil), new(bytes.Buffer))
			},
			"root is 0 on rank 0, 2 on rank 2", ""},
	} {
		t.Run("differs="+tt.name, func(t *testing.T) {
			for _, hosts := range [][]int{onOne(4), {0, 0, 0, 1}} {
				synctest.Test(t, func(t *testing.T) {
					ringtest.RunOnHosts(t, hosts, faulty(), func(g *ring.Group) error {
						rank := g.Membership().Rank
						arena, err := g.Arena(t.Context(), 8000)
						if told, ok := errors.AsType[*ring.Abort](err); ok && hosts[rank] != 0 && strings.Contains(told.Text, "ranks differ") {
							return nil // alone on its host, this rank waits for no worker of it: the others may have ended
						}
						if err != nil {
							return err
						}
						arena[0] = 5
						call, peer, says := tt.most, 2, tt.says
						switch rank {
						case 2:
							call, peer, says = tt.one, 0, tt.theirs
						case 1, 3:
							says = ""
						}
						err = call(g, arena)
						if hosts[rank] != 0 {
							return nil // this rank learns at most that the others have ended
						}
						if told, ok := errors.AsType[*ring.Abort](err); ok && strings.Contains(told.Text, "ranks differ") && exitcode.Of(err) == exitcode.Protocol {
							return nil // another rank was faster and reports the same fault
						}
						wantPeer(t, err, peer, exitcode.Protocol)
						if !errors.Is(err, ring.ErrRanksDiffer) || !strings.Contains(fmt.Sprint(err), says) {
							t.Errorf("hosts=%v: rank %d: error %v, want %q", hosts, rank, err, says)
						}
						if arena[0] != 5 {
							t.Errorf("hosts=%v: rank %d: the buffer has changed", hosts, rank)
						}
						return nil
					})
				})
			}
		})
	}
}

// TestCutAcross breaks a driver's link to the other hosts at each of its frames. It verifies
// that the driver blames the driver that it sends to, by its rank in the job and with the
// number of the operation. It also verifies that the others of its host blame neither it nor
// each other, and that no rank hangs.
func TestCutAcross(t *testing.T) {
	hosts := []int{0, 0, 0, 1, 1, 2, 2}
	next := map[int]int{0: 3, 1: 4, 3: 5, 4: 6, 5: 0, 6: 1}
	for _, name := range []string{"int8", "staged"} {
		op := hostPrograms(t)[name]
		for driver, peer := range next {
			segments := uint32(0)
			for {
				cut := false
				synctest.Test(t, func(t *testing.T) { cut = testCutAcross(t, hosts, driver, peer, segments, op) })
				if !cut {
					break // no such frame
				}
				segments++
			}
			if segments < 4 {
				t.Errorf("op=%s: driver %d sends %d frames, want 4 or more", name, driver, segments)
			}
		}
	}
}

// testCutAcross tells whether the driver came to the segment at which its link
// is cut.
func testCutAcross(t *testing.T, hosts []int, driver, peer int, segment uint32, op func(g *ring.Group) error) bool {
	over := ringtest.HostTransports(hosts)
	over[driver].Across.Ring = ringtest.WithFault(over[driver].Across.Ring, ringtest.Fault{Segment: segment, Kind: ringtest.Cut})
	errs := make([]error, len(hosts))
	ringtest.RunOnHostsOver(t, hosts, over, ringAlone(t), func(g *ring.Group) error {
		err := g.Barrier(t.Context())
		if err == nil { // otherwise other ranks have succeeded and failed later
			err = op(g)
		}
		errs[g.Membership().Rank] = err
		return nil // the other ranks must find out by themselves
	})
	if errs[driver] == nil {
		return false
	}
	wantPeer(t, errs[driver], peer, exitcode.Retry)
	if pe, ok := errors.AsType[*ring.PeerError](errs[driver]); ok && pe.Seq != 1 {
		t.Errorf("number of the operation is %d, want 1", pe.Seq)
	}
	for rank, err := range errs {
		if hosts[rank] != hosts[driver] {
			continue
		}
		if pe, ok := errors.AsType[*ring.PeerError](err); !ok || hosts[pe.Rank] == hosts[driver] || exitcode.Of(err) != exitcode.Retry {
			t.Errorf("rank %d, of the host of driver %d: error %v, want one that blames a rank of another host", rank, driver, err)
		}
	}
	return true
}

// ringAlone returns the options of groups that use no doubling.
func ringAlone(t *testing.T) ring.Config {
	cfg := faulty()
	var err error
	if cfg.Algorithm, err = ring.ParseAlgorithm("ring"); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// late is a link that takes its time for every frame.
type late struct {
	ring.Link
	delay time.Duration
}

func (l late) Send(ctx context.Context, f ring.Frame) error {
	time.Sleep(l.delay)
	return l.Link.Send(ctx, f)
}

// TestSlowAcross verifies that workers keep waiting while the drivers of their host make
// progress, however slowly.
func TestSlowAcross(t *testing.T) {
	hosts := []int{0, 0, 0, 1}
	synctest.Test(t, func(t *testing.T) {
		over := ringtest.HostTransports(hosts)
		for _, driver := range []int{0, 3} {
			over[driver].Across.Ring = late{over[driver].Across.Ring, faultTimeout / 2}
		}
		start := time.Now()
		ringtest.RunOnHostsOver(t, hosts, over, ringAlone(t), hostPrograms(t)["staged"])
		if took := time.Since(start); took < 2*faultTimeout {
			t.Errorf("took %v, which proves nothing", took)
		}
	})
}

// TestSilentAcross verifies that a driver which falls silent between hosts is named by the
// driver that waits for it, and that the other workers end too.
func TestSilentAcross(t *testing.T) {
	hosts := []int{0, 0, 1, 1}
	synctest.Test(t, func(t *testing.T) {
		over := ringtest.HostTransports(hosts)
		over[3].Across.Ring = ringtest.WithFault(over[3].Across.Ring, ringtest.Fault{Segment: 1, Kind: ringtest.Silence})
		ringtest.RunOnHostsOver(t, hosts, over, ringAlone(t), func(g *ring.Group) error {
			err := hostPrograms(t)["staged"](g)
			switch g.Membership().Rank {
			case 0: // waits for rank 1 of its host, which waits for rank 3 and may report it in time
				if pe, ok := errors.AsType[*ring.PeerError](err); !ok || pe.Rank == 0 || pe.Rank == 2 {
					t.Errorf("rank 0: error %v, want one that names rank 1 or 3", err)
				}
			case 1:
				wantPeer(t, err, 3, exitcode.Retry)
			default:
				if exitcode.Of(err) != exitcode.Retry {
					t.Errorf("error %v, want one with exit code %d", err, exitcode.Retry)
				}
			}
			return nil
		})
	})
}

// TestNewWaits verifies that New waits for the workers of the host no longer than OpTimeout or
// its context, and names a missing worker.
func TestNewWaits(t *testing.T) {
	cause := exitcode.With(exitcode.Terminated, errors.New("stopped"))
	for _, stopped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			over, start, want := ringtest.HostTransports(onOne(3)), time.Now(), faultTimeout
			if stopped {
				want = time.Second
				time.AfterFunc(want, func() { cancel(cause) })
			}
			done := make(chan error)
			for rank := range 2 {
				go func() {
					_, err := ring.New(ctx, ringtest.OnHosts(onOne(3), rank), over[rank], faulty())
					done <- err
				}()
			}
			for range 2 {
				err := <-done
				code, kind := exitcode.Retry, ring.ErrTimeout
				if stopped {
					code, kind = exitcode.Terminated, cause
				}
				if pe, ok := errors.AsType[*ring.PeerError](err); !ok || exitcode.Of(err) != code || !strings.Contains(err.Error(), "start 0") {
					t.Errorf("error %v with exit code %d, want a PeerError with %d", err, exitcode.Of(err), code)
				} else if (pe.Rank == 2 || !stopped) && !errors.Is(err, kind) {
					t.Errorf("error %v, want %v", err, kind)
				} else if pe.Rank != 2 && !stopped { // when all ranks are stopped, one may see another one leave first
					t.Errorf("error %v, want one that names rank 2", err)
				}
			}
			if took := time.Since(start); took != want {
				t.Errorf("took %v, want %v", took, want)
			}
			cancel(nil)
		})
	}
}

// TestContextOnHosts verifies that the end of a context ends a wait in memory or for drivers
// within a tenth of a second, with the cause of the context.
func TestContextOnHosts(t *testing.T) {
	cause := exitcode.With(exitcode.Terminated, errors.New("stopped by SIGTERM"))
	for _, hosts := range [][]int{onOne(3), {0, 1, 0}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			time.AfterFunc(time.Second, func() { cancel(cause) })
			start := time.Now()
			ringtest.RunOnHosts(t, hosts, ring.DefaultConfig(), func(g *ring.Group) error {
				if g.Membership().Rank == 1 {
					return nil
				}
				err := g.AllReduce(ctx, ring.Reduction{Buf: make([]float32, 5000)})
				if !errors.Is(err, cause) || exitcode.Of(err) != exitcode.Terminated {
					t.Errorf("error %v, want %v", err, cause)
				}
				if err := g.Barrier(context.Background()); !errors.Is(err, ring.ErrGenerationEnded) {
					t.Errorf("later error %v, want ring.ErrGenerationEnded", err)
				}
				return nil
			})
			if took := time.Since(start); took > 1200*time.Millisecond {
				t.Errorf("took %v, want at most 1.2s", took)
			}
		})
	}
}

// TestLinksEndTogether ends a generation while a driver waits for another host, whose links
// linger. It verifies that the links of both levels end at the same time, so that the rank
// reports the cause without a second delay.
func TestLinksEndTogether(t *testing.T) {
	hosts := []int{0, 1, 1}
	synctest.Test(t, func(t *testing.T) {
		over := ringtest.HostTransports(hosts)[0]
		over.Ring, over.Across.Ring = newLingering(over.Ring), newLingering(over.Across.Ring)
		ctx, cancel := context.WithCancelCause(context.Background())
		g, err := ring.New(ctx, ringtest.OnHosts(hosts, 0), over, ring.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		time.AfterFunc(time.Minute, func() { cancel(errors.New("rank 1 is silent")) })
		start := time.Now()
		if err := g.AllReduce(context.Background(), ring.Reduction{Buf: make([]float32, 5000)}); err == nil {
			t.Error("the sum is whole without the other host")
		}
		if took := time.Since(start) - time.Minute; took != 2*time.Second {
			t.Errorf("it took %v, want the 2s of one link", took)
		}
	})
}

// TestWaitingOnHosts verifies that a waiting group names the late worker of its host, and that
// a driver names the driver that it waits for.
func TestWaitingOnHosts(t *testing.T) {
	hosts := []int{0, 1, 0, 1}
	synctest.Test(t, func(t *testing.T) {
		var groups [4]atomic.Pointer[ring.Group]
		come, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			ringtest.RunOnHosts(t, hosts, ring.DefaultConfig(), func(g *ring.Group) error {
				groups[g.Membership().Rank].Store(g)
				if g.Membership().Rank == 3 {
					<-come
				}
				return g.AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, 5000)})
			})
		}()
		time.Sleep(10 * time.Second)
		for rank, want := range []int{1, 3, 3} {
			w := groups[rank].Load().Waiting()
			if w.Operation != "all-reduce" || w.Seq != 0 || w.Elements != 5000 || w.Peer != want || time.Since(w.Since) < 9*time.Second {
				t.Errorf("rank %d waits in %+v, for %v; want rank %d, for 10s", rank, w, time.Since(w.Since), want)
			}
		}
		close(come)
		<-done
	})
}

// closeAmidSum has rank 0 close its group while its sum waits for rank 1. It returns an error if
// Close returns before the sum, which may still use memory that Close releases.
func closeAmidSum(g *ring.Group) error {
	if g.Membership().Rank == 1 {
		return nil
	}
	got := make(chan error, 1)
	go func() { got <- g.AllReduce(context.Background(), ring.Reduction{Buf: make([]float32, 5000)}) }()
	synctest.Wait()
	if err := g.Close(); err != nil {
		return err
	}
	synctest.Wait() // no time passes
	select {
	case err := <-got:
		if !errors.Is(err, ring.ErrClosed) {
			return fmt.Errorf("error %v, want ring.ErrClosed", err)
		}
		return nil
	default:
		return errors.New("Close has returned before the operation")
	}
}

// TestCloseInMemory verifies that Close does not wait for the other workers of the host.
func TestCloseInMemory(t *testing.T) {
	for _, hosts := range [][]int{onOne(2), {0, 1}} {
		synctest.Test(t, func(t *testing.T) { ringtest.RunOnHosts(t, hosts, faulty(), closeAmidSum) })
	}
}

// slowToTell is memory whose Exchange takes its time to tell how it ended.
type slowToTell struct{ ring.Memory }

func (s slowToTell) Exchange(ctx context.Context, mine *ring.BarrierPayload, all []ring.BarrierPayload) error {
	err := s.Memory.Exchange(ctx, mine, all)
	if err != nil {
		time.Sleep(faultTimeout)
	}
	return err
}

// TestCloseWaits verifies that Close waits for an operation that ends slowly.
func TestCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := ringtest.HostTransports(onOne(2))
		over[0].Memory = slowToTell{over[0].Memory}
		ringtest.RunOnHostsOver(t, onOne(2), over, faulty(), closeAmidSum)
	})
}
