package ring_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// subgroup makes a group of some ranks of a job of eight and calls fn once for each, with its
// number in the group.
func subgroup(t *testing.T, ranks []int, over []ring.Transport, fn func(g *ring.Group, me int) error) []error {
	t.Helper()
	all := ringtest.Membership(8, 0).Workers
	errs := make([]error, len(ranks))
	var running sync.WaitGroup
	for me := range ranks {
		m := ring.Membership{JobID: "test", Generation: ringtest.Generation, Rank: me}
		for _, r := range ranks {
			m.Workers = append(m.Workers, all[r])
		}
		running.Go(func() {
			g, err := ring.New(t.Context(), m, over[me], ring.DefaultConfig())
			if err != nil {
				errs[me] = err
				return
			}
			errs[me] = fn(g, me)
			g.Close()
		})
	}
	running.Wait()
	return errs
}

// shared returns the transports of n workers of one host.
func shared(n int) []ring.Transport {
	over := make([]ring.Transport, n)
	for i, m := range memlink.Memory(n) {
		over[i].Memory = m
	}
	return over
}

// transports returns the transports of n workers: links, or the memory of one host.
func transports(kind string, n int) []ring.Transport {
	if kind == "memory" {
		return shared(n)
	}
	return memlink.Mesh(n)
}

// TestSubgroupBroadcast verifies that a group of some ranks of a job broadcasts from each of its
// workers, and sums after that. The root counts the workers of the group, not the ranks of the
// job.
func TestSubgroupBroadcast(t *testing.T) {
	for _, ranks := range [][]int{{3, 5, 7}, {1, 0, 2}, {1, 2}, {4, 1, 6, 0}} {
		for _, kind := range []string{"links", "memory"} {
			t.Run(fmt.Sprintf("ranks=%v over=%s", ranks, kind), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					for me, err := range subgroup(t, ranks, transports(kind, len(ranks)), broadcastFromEach(ranks)) {
						if err != nil {
							t.Errorf("worker %d: %v", me, err)
						}
					}
				})
			})
		}
	}
}

// broadcastFromEach returns a function for each worker: a broadcast from each root, and a sum of
// the ranks after each.
func broadcastFromEach(ranks []int) func(g *ring.Group, me int) error {
	text, sum := strings.Repeat("state ", 200_000), float32(0)
	for _, r := range ranks {
		sum += float32(r)
	}
	return func(g *ring.Group, me int) error {
		for root := range ranks {
			var got bytes.Buffer
			if err := g.Broadcast(context.Background(), root, strings.NewReader(text), &got); err != nil {
				return fmt.Errorf("root %d: %w", root, err)
			}
			if me != root && got.String() != text {
				return fmt.Errorf("root %d: %d bytes that are not the root's", root, got.Len())
			}
			x := []float32{float32(ranks[me])}
			if err := g.AllReduce(context.Background(), ring.Reduction{Buf: x}); err != nil {
				return fmt.Errorf("after root %d: %w", root, err)
			}
			if x[0] != sum {
				return fmt.Errorf("sum is %v, want %v", x[0], sum)
			}
		}
		return nil
	}
}

// TestSubgroupNames verifies that errors in a group of some ranks of a job name ranks of the
// job: the rank of a root that cannot read on, whose reason is printable, and those of two workers
// with different operations.
func TestSubgroupNames(t *testing.T) {
	ranks := []int{3, 5, 7}
	for _, kind := range []string{"links", "memory"} {
		t.Run("over="+kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				errs := subgroup(t, ranks, transports(kind, 3), func(g *ring.Group, _ int) error {
					return g.Broadcast(context.Background(), 1, iotest.ErrReader(errors.New("no\nfile \x1b[2J\u202e")), io.Discard)
				})
				for _, me := range []int{0, 2} {
					if pe, ok := errors.AsType[*ring.PeerError](errs[me]); !ok || pe.Rank != 5 || !strings.HasSuffix(pe.Error(), "no file ?[2J?") {
						t.Errorf("worker %d: %q, want an error that blames rank 5, in printable characters", me, errs[me])
					}
				}
				errs = subgroup(t, ranks, transports(kind, 3), func(g *ring.Group, me int) error {
					return g.Broadcast(context.Background(), 2*min(me, 1), strings.NewReader(""), io.Discard)
				})
				var differ []string
				for _, err := range errs {
					if errors.Is(err, ring.ErrRanksDiffer) {
						differ = append(differ, err.Error())
					}
				}
				if all := strings.Join(differ, "; "); all == "" || strings.ContainsAny(strings.Join(regexp.MustCompile(`on rank \d`).FindAllString(all, -1), " "), "012") {
					t.Errorf("errors are %q, want some that name ranks 3, 5, 7 only", all)
				}
			})
		})
	}
}
