package ring_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// roundsPrograms are all-reduces of several pieces, for p = 5, where rank 1 is
// an extra.
func roundsPrograms(t *testing.T) map[string]program {
	programs := map[string]program{}
	for name, n := range map[string]int{"doubling": 16400, "halving": 300} {
		reduce := func(g *ring.Group) error {
			r := ring.Reduction{Buf: make([]float32, n), Tails: make([]byte, g.Membership().Size()*ring.TailBytes)}
			return g.AllReduce(t.Context(), r)
		}
		programs[name] = program{name: name, ops: []func(*ring.Group) error{reduce, reduce}}
	}
	return programs
}

// inEachFrame runs test once for a fault in each frame of the last operation, of
// each link, of a rank of 5 of each kind: of two in a corner, the first and the
// extra; and one alone. It gets the errors of all ranks.
func inEachFrame(t *testing.T, f ringtest.Fault, test func(t *testing.T, faulty, partner int, errs []error)) {
	const p = 5
	for name, pr := range roundsPrograms(t) {
		for _, faulty := range []int{0, 1, 3} {
			for round := range memlink.Mesh(p)[faulty].Rounds {
				for segment := range 2 {
					f.Op, f.Segment = uint64(len(pr.ops)-1), uint32(segment)
					partner := ring.RoundRoutes([]int{0, 1, 2, 3, 4}, faulty, 0)[round].To
					if partner < 0 {
						continue
					}
					t.Run(fmt.Sprintf("algorithm=%s/rank=%d/round=%d/segment=%d", name, faulty, round, segment), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							test(t, faulty, partner, pr.runOver(t, name, p, faulty, round, f))
						})
					})
				}
			}
		}
	}
}

// runOver runs pr on p ranks, with a fault in one rank's link of a round, and
// returns each rank's error.
func (pr program) runOver(t *testing.T, name string, p, faulty, round int, f ringtest.Fault) []error {
	errs := make([]error, p)
	mesh := memlink.Mesh(p)
	mesh[faulty].Rounds[round] = ringtest.WithFault(mesh[faulty].Rounds[round], f)
	cfg := by(t, name)
	cfg.OpTimeout = faultTimeout
	overMesh(t, mesh, cfg, func(g *ring.Group) error {
		for _, op := range pr.ops {
			if err := op(g); err != nil {
				errs[g.Membership().Rank] = err
				break
			}
		}
		return nil
	})
	return errs
}

// TestRoundsLies changes frames of rounds in each of their fields. It verifies that the
// partner refuses such a frame and names its sender.
func TestRoundsLies(t *testing.T) {
	for name, change := range map[string]func(f *ring.Frame){
		"kind":       func(f *ring.Frame) { f.Kind = ring.KindClose },
		"stream":     func(f *ring.Frame) { f.Stream++ },
		"generation": func(f *ring.Frame) { f.Generation++ },
		"operation":  func(f *ring.Frame) { f.Op++ },
		"segment":    func(f *ring.Frame) { f.Segment++ },
		"codec":      func(f *ring.Frame) { f.Codec = 1 },
		"longer":     func(f *ring.Frame) { f.Payload = append(f.Payload, 1) },
		"much":       func(f *ring.Frame) { f.Payload = append(f.Payload, make([]byte, 1<<20)...) },
		"shorter":    func(f *ring.Frame) { f.Payload = f.Payload[:len(f.Payload)-1] },
		"empty":      func(f *ring.Frame) { f.Payload = nil },
	} {
		t.Run("change="+name, func(t *testing.T) {
			f := ringtest.Fault{Kind: ringtest.Corrupt, Change: change}
			inEachFrame(t, f, func(t *testing.T, faulty, partner int, errs []error) {
				wantPeer(t, errs[partner], faulty, exitcode.Protocol)
				if !errors.Is(errs[partner], ring.ErrCorruptFrame) {
					t.Errorf("error %v, want ring.ErrCorruptFrame", errs[partner])
				}
			})
		})
	}
}

// TestRoundsSilence verifies that the partner names the silent rank and the operation if frames
// of rounds never arrive, and that no rank hangs.
func TestRoundsSilence(t *testing.T) {
	inEachFrame(t, ringtest.Fault{Kind: ringtest.Silence}, func(t *testing.T, faulty, partner int, errs []error) {
		wantPeer(t, errs[partner], faulty, exitcode.Retry)
		if pe, ok := errors.AsType[*ring.PeerError](errs[partner]); !ok || pe.Op != "all-reduce" || pe.Seq != 1 {
			t.Errorf("error %v, want one of all-reduce 1", errs[partner])
		}
	})
}

// TestRoundsCut breaks the links of rounds at each frame. It verifies that the rank that
// cannot send names its partner, and that no rank hangs.
func TestRoundsCut(t *testing.T) {
	inEachFrame(t, ringtest.Fault{Kind: ringtest.Cut}, func(t *testing.T, faulty, partner int, errs []error) {
		wantPeer(t, errs[faulty], partner, exitcode.Retry)
		for rank, err := range errs {
			if _, ok := errors.AsType[*ring.PeerError](err); err != nil && !ok {
				t.Errorf("rank %d: error %v, want a PeerError", rank, err)
			}
		}
	})
}

// TestWaitingInRounds verifies that a group that waits in a round names its partner.
func TestWaitingInRounds(t *testing.T) {
	for _, tt := range []struct{ p, me, absent, want int }{
		{4, 0, 1, 1}, // round 0
		{4, 0, 2, 2}, // round 1
		{3, 0, 1, 1}, // an extra's part
		{3, 1, 2, 0}, // the sum for an extra
	} {
		synctest.Test(t, func(t *testing.T) {
			mesh := memlink.Mesh(tt.p)
			start := time.Now()
			cfg := by(t, "doubling")
			cfg.OpTimeout = time.Hour
			overMesh(t, mesh, cfg, func(g *ring.Group) error {
				rank := g.Membership().Rank
				if rank == tt.absent {
					time.Sleep(2 * time.Minute) // on the fake clock
				}
				if rank == tt.me {
					time.AfterFunc(time.Minute, func() {
						if w := g.Waiting(); w.Operation != "all-reduce" || w.Seq != 0 || w.Peer != tt.want || w.Since.Before(start) {
							t.Errorf("%+v: waits in %+v", tt, w)
						}
					})
				}
				return g.AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, 10)})
			})
		})
	}
}
