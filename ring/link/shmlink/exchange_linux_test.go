package shmlink

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"ringtrain/ring"
)

// each calls f for all memories at the same time and reports their errors.
func each(t *testing.T, all []ring.Memory, f func(me int, m *memory) error) {
	t.Helper()
	var running sync.WaitGroup
	errs := make([]error, len(all))
	for me, m := range all {
		running.Go(func() { errs[me] = f(me, m.(*memory)) })
	}
	running.Wait()
	for me, err := range errs {
		if err != nil {
			t.Errorf("worker %d: %v", me, err)
		}
	}
}

// TestGroup verifies the sums and tails of a group over this memory, for buffers of a few
// elements, which use Exchange, and for longer ones.
func TestGroup(t *testing.T) {
	const p = 3
	workers := make([]ring.Worker, p)
	for r := range workers {
		workers[r] = ring.Worker{Rank: r, Host: "here", HostID: "a"}
	}
	each(t, openAll(t, p, Config{}), func(me int, m *memory) error {
		g, err := ring.New(t.Context(), ring.Membership{Rank: me, Workers: workers}, ring.Transport{Memory: m}, ring.DefaultConfig())
		if err != nil {
			return err
		}
		defer g.Close()
		for n := range 8 {
			r := ring.Reduction{Buf: make([]float32, n), Tails: make([]byte, p*ring.TailBytes)}
			var want []float32
			for i := range r.Buf {
				r.Buf[i] = float32(10*me + i)
				want = append(want, float32(10*(0+1+2)+p*i))
			}
			r.Tails[me*ring.TailBytes] = byte(1 + me + n)
			if err := g.AllReduce(t.Context(), r); err != nil {
				return err
			}
			if !slices.Equal(r.Buf, want) {
				return fmt.Errorf("sum of %d elements is %v, want %v", n, r.Buf, want)
			}
			for of := range p {
				if got := r.Tails[of*ring.TailBytes]; got != byte(1+of+n) {
					return fmt.Errorf("%d elements: tail of rank %d begins with %d, want %d", n, of, got, 1+of+n)
				}
			}
		}
		return g.Barrier(t.Context())
	})
}

// TestSharedCores verifies that a worker whose core other work was found to use sleeps without
// a yield, for as many waits as it is told, and that it is woken by the last arrival.
func TestSharedCores(t *testing.T) {
	const waits = 100
	all := openAll(t, 2, Config{Spin: 1})
	first, last := all[0].(*memory), all[1].(*memory)
	first.shared = waits
	each(t, all, func(me int, m *memory) error {
		for i := range waits {
			next := m.round + 1
			for me == 1 && (m.entry(0, next).arrived.Load() < next || m.sleepers.Load() == 0) {
				runtime.Gosched() // the last worker arrives when the first one sleeps
			}
			if !m.await() {
				return fmt.Errorf("wait %d was in vain", i)
			}
		}
		return nil
	})
	if first.shared != 0 || last.shared != 0 {
		t.Errorf("%d and %d waits are left to sleep at once, want none", first.shared, last.shared)
	}
}
