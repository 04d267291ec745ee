package shmlink

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"ringtrain/ring"
)

// each calls f for all memories at once and reports their errors.
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

// slipOf returns a slip all of whose bytes tell worker and round, and of whose
// floats none is NaN, which would not equal itself.
func slipOf(me, round int) (s ring.Slip) {
	for i := range ring.SlipBytes {
		(*[ring.SlipBytes]byte)(unsafe.Pointer(&s))[i] = byte(7*me+31*round+i) & 0x3f
	}
	return s
}

// TestExchange fails if a worker gets another slip than the one that belongs to
// the same barrier, however far ahead the others are and whatever plain barriers
// lie in between.
func TestExchange(t *testing.T) {
	const p, rounds = 3, 300
	each(t, openAll(t, p, Config{}), func(me int, m *memory) error {
		got := make([]ring.Slip, p)
		for round := range rounds {
			for range round % 3 {
				if err := m.Sync(t.Context()); err != nil {
					return err
				}
			}
			mine := slipOf(me, round)
			if err := m.Exchange(t.Context(), &mine, got); err != nil {
				return err
			}
			for of := range got {
				if got[of] != slipOf(of, round) {
					return fmt.Errorf("round %d: slip of worker %d is another one", round, of)
				}
			}
		}
		return nil
	})
}

// TestExchangeAfterEnd fails if a worker that has left, or given its memory back,
// waits for others or touches what is no longer mapped.
func TestExchangeAfterEnd(t *testing.T) {
	var mine ring.Slip
	for name, end := range map[string]func(ring.Memory){"interrupt": ring.Memory.Interrupt, "close": func(m ring.Memory) { m.Close() }} {
		m := openAll(t, 2, Config{})[1].(*memory)
		end(m)
		if err := m.Exchange(t.Context(), &mine, make([]ring.Slip, 2)); !errors.Is(err, ring.ErrClosed) {
			t.Errorf("end=%s: error %v, want ring.ErrClosed", name, err)
		}
	}
}

// TestExchangeAllocates fails if a small sum costs the garbage collector
// something.
func TestExchangeAllocates(t *testing.T) {
	m := openAll(t, 1, Config{})[0].(*memory)
	var mine ring.Slip
	got := make([]ring.Slip, 1)
	if n := testing.AllocsPerRun(20, func() {
		if err := m.Exchange(t.Context(), &mine, got); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per exchange, want 0", n)
	}
}

// TestGroup fails if a group over this memory sums other elements or brings other
// tails than the ranks gave: buffers of a few elements go another way than
// longer ones.
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
