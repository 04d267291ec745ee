package ring_test

import (
	"bytes"
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
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// faultTimeout is OpTimeout under a fault, by the clock of a synctest bubble.
const faultTimeout = 10 * time.Second

// program is one operation of each kind, each of several frames, eager or not.
type program struct {
	name       string
	compressed bool
	ops        []func(g *ring.Group) error
}

func programs(t *testing.T) []program {
	reduce := func(n int, c codec.Codec) func(*ring.Group) error {
		return func(g *ring.Group) error {
			p := g.Membership().Size()
			r := ring.Reduction{Buf: make([]float32, n), Codec: c, Residual: make([]float32, n), Tails: make([]byte, p*ring.TailBytes)}
			return g.AllReduce(t.Context(), r)
		}
	}
	gather := func(n int) func(*ring.Group) error {
		return func(g *ring.Group) error {
			return g.AllGather(t.Context(), make([]byte, n), new(ring.Gathered))
		}
	}
	broadcast := func(g *ring.Group) error {
		return g.Broadcast(t.Context(), 1, bytes.NewReader(make([]byte, 2000)), new(bytes.Buffer))
	}
	barrier := func(g *ring.Group) error { return g.Barrier(t.Context()) }
	return []program{
		{"exact", false, []func(*ring.Group) error{reduce(10, nil), barrier, reduce(2000, nil), gather(3), broadcast, gather(2000), reduce(1500, codec.Int8)}},
		{"fp16", false, []func(*ring.Group) error{reduce(10, codec.FP16), reduce(1500, codec.FP16), barrier}},
		{"zstd", true, []func(*ring.Group) error{reduce(10, codec.BF16), reduce(1500, nil), barrier}},
	}
}

// run runs pr on 4 ranks, one of them with a fault. It returns each rank's first error and the
// time of the error.
func (pr program) run(t *testing.T, faulty int, f ringtest.Fault) (errs []error, took []time.Duration) {
	const p = 4
	errs, took = make([]error, p), make([]time.Duration, p)
	links := memlink.Ring(p)
	links[faulty] = ringtest.WithFault(links[faulty], f)
	start := time.Now()
	cfg := small(nil)
	if pr.compressed {
		cfg.Lossless = codec.NewZstd() // of this bubble
	}
	cfg.OpTimeout = faultTimeout
	ringtest.RunOver(t, links, cfg, func(g *ring.Group) error {
		rank := g.Membership().Rank
		for _, op := range pr.ops {
			if errs[rank] = op(g); errs[rank] != nil {
				took[rank] = time.Since(start)
				if err := g.Barrier(t.Context()); !errors.Is(err, ring.ErrGenerationEnded) || !errors.Is(err, errs[rank]) {
					t.Errorf("rank %d: later error is %v, want ring.ErrGenerationEnded and %v", rank, err, errs[rank])
				}
				return nil // the other ranks must find out by themselves
			}
		}
		return nil
	})
	return errs, took
}

// everywhere calls test for a fault at each rank, operation and segment of each program, with
// the errors of all ranks.
func everywhere(t *testing.T, programs []program, f ringtest.Fault, test func(t *testing.T, faulty int, errs []error, took []time.Duration)) {
	change := f.Change
	for _, pr := range programs {
		met := 0
		for op := range pr.ops {
			for faulty := range 4 {
				for segment, more := 0, true; more; segment++ {
					name := fmt.Sprintf("program=%s/op=%d/rank=%d/segment=%d", pr.name, op, faulty, segment)
					f.Op, f.Segment = uint64(op), uint32(segment)
					lied := false // a false frame that is accepted gives no error
					if change != nil {
						f.Change = func(f *ring.Frame) {
							before, payload := *f, bytes.Clone(f.Payload)
							change(f)
							lied = lied || f.Kind != before.Kind || f.Stream != before.Stream || f.Generation != before.Generation || f.Op != before.Op ||
								f.Segment != before.Segment || f.Codec != before.Codec || !bytes.Equal(f.Payload, payload)
						}
					}
					synctest.Test(t, func(t *testing.T) {
						errs, took := pr.run(t, faulty, f)
						if more = lied || errors.Join(errs...) != nil; more { // otherwise there is no such frame
							met++
							defer func() {
								if t.Failed() {
									t.Logf("%s: errors by rank:\n%s", name, strings.Join(strings.Split(fmt.Sprintf("%v", errs), " ring: "), "\n"))
								}
							}()
							test(t, faulty, errs, took)
						}
					})
					if t.Failed() {
						return
					}
				}
			}
		}
		if met < 4 {
			t.Errorf("program=%s: %d faults were met, want one or more of each rank", pr.name, met)
		}
	}
}

// wantPeer verifies that err blames rank and has the exit code.
func wantPeer(t *testing.T, err error, rank, code int) {
	t.Helper()
	pe, ok := errors.AsType[*ring.PeerError](err)
	if !ok || pe.Rank != rank || pe.Addr != fmt.Sprintf("memory:%d", rank) || exitcode.Of(err) != code {
		t.Errorf("error %v with exit code %d, want a PeerError that names rank %d, with %d", err, exitcode.Of(err), rank, code)
	}
}

// TestCut cuts the link of each rank at each of its frames. It verifies that the rank blames its
// right neighbour, that another rank names it, that all others name some rank, and that no rank
// hangs. A rank that ends also closes its links, so another rank may name that one.
func TestCut(t *testing.T) {
	everywhere(t, programs(t), ringtest.Fault{Kind: ringtest.Cut}, func(t *testing.T, faulty int, errs []error, _ []time.Duration) {
		wantPeer(t, errs[faulty], (faulty+1)%4, exitcode.Retry)
		named := false
		for rank, err := range errs {
			pe, ok := errors.AsType[*ring.PeerError](err)
			if err != nil && !ok {
				t.Errorf("rank %d: error %v, want a PeerError", rank, err)
			}
			named = named || ok && pe.Rank == faulty
		}
		if !named {
			t.Errorf("nobody names rank %d", faulty)
		}
	})
}

// TestSilence silences each rank at each of its frames. It verifies that the right neighbour
// blames the rank after OpTimeout, and that no rank hangs.
func TestSilence(t *testing.T) {
	everywhere(t, programs(t), ringtest.Fault{Kind: ringtest.Silence}, func(t *testing.T, faulty int, errs []error, took []time.Duration) {
		next := (faulty + 1) % 4
		wantPeer(t, errs[next], faulty, exitcode.Retry)
		if got := took[next]; got < faultTimeout || got > faultTimeout+200*time.Millisecond {
			t.Errorf("rank %d fails after %v, want %v", next, got, faultTimeout)
		}
	})
}

// TestSilentPeer verifies that all other ranks fail after OpTimeout when rank 2 of 4 falls
// silent, and that the rank that waits for it names it. The clock is that of a synctest bubble.
func TestSilentPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const silent = 2
		cfg := ring.DefaultConfig()
		start := time.Now()
		ringtest.Run(t, 4, cfg, func(g *ring.Group) error {
			rank := g.Membership().Rank
			if rank == silent {
				return nil
			}
			err := g.AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, 64)})
			if rank == silent+1 {
				wantPeer(t, err, silent, exitcode.Retry)
				if !errors.Is(err, ring.ErrTimeout) {
					t.Errorf("rank %d: error %v, want ring.ErrTimeout", rank, err)
				}
			}
			if err == nil {
				t.Errorf("rank %d: no error", rank)
			}
			if got := time.Since(start); got < cfg.OpTimeout || got > cfg.OpTimeout+200*time.Millisecond {
				t.Errorf("rank %d fails after %v, want %v", rank, got, cfg.OpTimeout)
			}
			return nil
		})
	})
}

// TestCorruptFrames changes each field of each frame of each rank. It verifies that the right
// neighbour refuses the frame and names the sender.
func TestCorruptFrames(t *testing.T) {
	for name, change := range map[string]func(f *ring.Frame){
		"kind":       func(f *ring.Frame) { f.Kind = ring.KindClose },
		"stream":     func(f *ring.Frame) { f.Stream++ },
		"generation": func(f *ring.Frame) { f.Generation++ },
		"operation":  func(f *ring.Frame) { f.Op++ },
		"segment":    func(f *ring.Frame) { f.Segment++ },
		"codec":      func(f *ring.Frame) { f.Codec ^= 0x0f },
		"compressor": func(f *ring.Frame) { f.Codec |= 0xf0 },
		"longer":     func(f *ring.Frame) { f.Payload = append(f.Payload, bytes.Repeat([]byte{3}, 1<<13)...) },
		"shorter": func(f *ring.Frame) {
			if f.Op != 4 { // a piece of a broadcast may have any length
				f.Payload = f.Payload[:max(len(f.Payload)-1, 0)]
			}
		},
	} {
		t.Run("change="+name, func(t *testing.T) {
			f := ringtest.Fault{Kind: ringtest.Corrupt, Change: change}
			everywhere(t, programs(t)[:1], f, func(t *testing.T, faulty int, errs []error, _ []time.Duration) {
				wantPeer(t, errs[(faulty+1)%4], faulty, exitcode.Protocol)
				if err := errs[(faulty+1)%4]; !errors.Is(err, ring.ErrCorruptFrame) {
					t.Errorf("error %v, want ring.ErrCorruptFrame", err)
				}
			})
		})
	}
}

// TestCompressedShorterThanTail verifies that a compressed frame too short for its tail is
// refused.
func TestCompressedShorterThanTail(t *testing.T) {
	pr := program{"short", true, []func(*ring.Group) error{func(g *ring.Group) error {
		return g.AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, 1500), Tails: make([]byte, 4*ring.TailBytes)})
	}}}
	for _, length := range []int{0, 10, ring.TailBytes - 1} {
		// A chunk has 375 elements, so the second frame of a step has the tail.
		f := ringtest.Fault{Kind: ringtest.Corrupt, Segment: 1, Change: func(f *ring.Frame) {
			f.Codec, f.Payload = codec.NewZstd().ID()<<4, f.Payload[:length]
		}}
		synctest.Test(t, func(t *testing.T) {
			errs, _ := pr.run(t, 0, f)
			wantPeer(t, errs[1], 0, exitcode.Protocol)
			if !errors.Is(errs[1], ring.ErrCorruptFrame) || !strings.Contains(fmt.Sprint(errs[1]), "shorter than its tail") {
				t.Errorf("length=%d: error %v, want ring.ErrCorruptFrame: the tail is missing", length, errs[1])
			}
		})
	}
}

// TestLongGather verifies that a length in a frame of an all-gather is checked.
func TestLongGather(t *testing.T) {
	for _, n := range []byte{0, 1, 0x7f, 0xff} {
		synctest.Test(t, func(t *testing.T) {
			pr := program{name: "gather", ops: []func(*ring.Group) error{func(g *ring.Group) error {
				return g.AllGather(t.Context(), []byte("abc"), new(ring.Gathered))
			}}}
			errs, _ := pr.run(t, 0, ringtest.Fault{Kind: ringtest.Corrupt, Change: func(f *ring.Frame) { f.Payload[7] = n; f.Payload[0]-- }})
			wantPeer(t, errs[1], 0, exitcode.Protocol)
		})
	}
}

// TestSlowPeer verifies that a rank may be late by less than OpTimeout.
func TestSlowPeer(t *testing.T) {
	f := ringtest.Fault{Kind: ringtest.Delay, Delay: faultTimeout - time.Second}
	for _, pr := range programs(t) {
		for op := range pr.ops {
			f.Op = uint64(op)
			synctest.Test(t, func(t *testing.T) {
				if errs, _ := pr.run(t, 1, f); errors.Join(errs...) != nil {
					t.Errorf("program=%s op=%d: %v", pr.name, op, errs)
				}
			})
		}
	}
}

// lingering is a link whose first Close or Abort waits for its neighbour. Other calls wait for the
// first.
type lingering struct {
	ring.Link
	first atomic.Bool
	over  chan struct{} // not a lock: a blocked lock stops the clock of synctest
}

func newLingering(l ring.Link) *lingering { return &lingering{Link: l, over: make(chan struct{})} }

func (l *lingering) Close() error {
	l.linger()
	return l.Link.Close()
}

func (l *lingering) Abort(why *ring.Abort) error {
	l.linger()
	return l.Link.Abort(why)
}

func (l *lingering) linger() {
	if !l.first.Swap(true) {
		time.Sleep(2 * time.Second)
		close(l.over)
	}
	<-l.over
}

// TestCloseAtOnce verifies that a group closes all its links at the same time: neighbours that
// do not answer cost one wait and not one for each link.
func TestCloseAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := memlink.Mesh(8)[0]
		over.Ring = newLingering(over.Ring)
		for k, l := range over.Rounds {
			over.Rounds[k] = newLingering(l)
		}
		g, err := ring.New(t.Context(), ringtest.Membership(8, 0), over, ring.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("closing %d links took %v, want the 2s of one", 1+len(over.Rounds), took)
		}
	})
}
