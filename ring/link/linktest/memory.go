package linktest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"ringtrain/ring"
)

// Memory verifies the contract of ring.Memory for the memories that open returns for p
// workers of one host, by local rank. One case uses the memories of one call, which are
// closed at its end. open may register its own cleanup with t.
func Memory(t *testing.T, open func(t *testing.T, p int) []ring.Memory) {
	run(t, open, exchangeCases)
	run(t, open, []memoryCase{
		{"arenas", 1, testArenas},
		{"sync is a barrier", 1, testBarrier},
		{"sync orders memory", 1, testOrdersMemory},
		{"sync allocates nothing", 1, testSyncAllocates},
		{"missing is named", 2, testMissing},
		{"none is missing", 1, testNoneMissing},
		{"interrupt ends sync", 2, testInterruptSync},
		{"interrupt ends arena", 2, testInterruptArena},
		{"interrupt comes first", 1, testInterruptFirst},
		{"close ends the others' sync", 2, testCloseEndsOthers},
		{"interrupt ends the others' sync", 2, testInterruptEndsOthers},
		{"leave after the last sync", 2, testLastSync},
		{"close twice", 1, testMemoryCloseTwice},
		{"sums of rows", 1, testRowsInMemory},
	})
}

// memoryCase is a case with its minimal number of workers.
type memoryCase struct {
	name  string
	least int
	test  func(t *testing.T, all []ring.Memory)
}

// run runs cases with several numbers of workers and ends those that hang.
func run(t *testing.T, open func(t *testing.T, p int) []ring.Memory, cases []memoryCase) {
	for _, p := range []int{1, 2, 3, 5} {
		for _, c := range cases {
			if p < c.least {
				continue
			}
			t.Run(fmt.Sprintf("p=%d/%s", p, c.name), func(t *testing.T) {
				all := open(t, p)
				if len(all) != p {
					t.Fatalf("%d memories, want %d", len(all), p)
				}
				defer func() {
					for r, m := range all {
						if err := m.Close(); err != nil {
							t.Errorf("worker %d: close: %v", r, err)
						}
					}
				}()
				stuck := time.AfterFunc(testTimeout, func() {
					for _, m := range all {
						m.Interrupt()
					}
				})
				defer stuck.Stop()
				c.test(t, all)
			})
		}
	}
}

// eachWorker calls fn once per worker, at the same time.
func eachWorker(t *testing.T, all []ring.Memory, fn func(r int, m ring.Memory) error) {
	t.Helper()
	var g errgroup.Group
	for r, m := range all {
		g.Go(func() error {
			if err := fn(r, m); err != nil {
				return fmt.Errorf("worker %d: %w", r, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

// testArenas verifies that an arena is zero, starts at a cache line, has the given length,
// shares no memory with another one, and is the same for all workers.
func testArenas(t *testing.T, all []ring.Memory) {
	sizes := []int{1, 15, 16, 17, 1000, 100_000, 1}
	value := func(k, r, at int) float32 { return float32(1000*k+10*r) + float32(at%7) }
	eachWorker(t, all, func(r int, m ring.Memory) error {
		var arenas [][][]float32
		for k, n := range sizes {
			parts, err := m.Arena(context.Background(), n)
			if err != nil {
				return err
			}
			if len(parts) != len(all) {
				return fmt.Errorf("arena %d has %d parts, want %d", k, len(parts), len(all))
			}
			if err := m.Sync(context.Background()); err != nil { // no worker writes before all have checked
				return err
			}
			for q, part := range parts {
				if err := checkNewArena(part, n); err != nil {
					return fmt.Errorf("arena %d, part %d: %w", k, q, err)
				}
			}
			if err := m.Sync(context.Background()); err != nil {
				return err
			}
			for i := range parts[r] {
				parts[r][i] = value(k, r, i)
			}
			arenas = append(arenas, parts)
		}
		if err := m.Sync(context.Background()); err != nil {
			return err
		}
		for k, parts := range arenas {
			for q, part := range parts {
				for i, v := range part {
					if want := value(k, q, i); v != want {
						return fmt.Errorf("arena %d, part %d: element %d is %g, want %g", k, q, i, v, want)
					}
				}
			}
		}
		return nil
	})
}

// checkNewArena verifies one part of a new arena.
func checkNewArena(part []float32, n int) error {
	if len(part) != n || cap(part) != n {
		return fmt.Errorf("length %d, capacity %d, want %d", len(part), cap(part), n)
	}
	if at := uintptr(unsafe.Pointer(unsafe.SliceData(part))); at%64 != 0 {
		return fmt.Errorf("begins at %#x, want a multiple of 64", at)
	}
	for i, v := range part {
		if v != 0 {
			return fmt.Errorf("element %d is %g, want 0", i, v)
		}
	}
	return nil
}

// testBarrier verifies that no worker leaves a Sync before the last one has called it.
func testBarrier(t *testing.T, all []ring.Memory) {
	const rounds = 100
	var come atomic.Int64
	eachWorker(t, all, func(_ int, m ring.Memory) error {
		for round := range rounds {
			come.Add(1)
			if err := m.Sync(context.Background()); err != nil {
				return err
			}
			if n := int(come.Load()); n < (round+1)*len(all) {
				return fmt.Errorf("left sync %d after %d arrivals, want %d", round, n, (round+1)*len(all))
			}
		}
		return nil
	})
}

// testOrdersMemory verifies that Sync orders memory: a worker sees after it what the others
// wrote before it, and nothing that they write after the next one. The race detector
// verifies the same.
func testOrdersMemory(t *testing.T, all []ring.Memory) {
	const rounds, n = 60, 40
	eachWorker(t, all, func(r int, m ring.Memory) error {
		parts, err := m.Arena(context.Background(), n)
		if err != nil {
			return err
		}
		next := parts[(r+1)%len(all)]
		for round := range rounds {
			for i := range parts[r] {
				parts[r][i] = float32(round*100 + i)
			}
			if err := m.Sync(context.Background()); err != nil {
				return err
			}
			for i, v := range next {
				if want := float32(round*100 + i); v != want {
					return fmt.Errorf("round %d: element %d is %g, want %g", round, i, v, want)
				}
				next[i] = -v
			}
			if err := m.Sync(context.Background()); err != nil {
				return err
			}
			for i, v := range parts[r] {
				if want := -float32(round*100 + i); v != want {
					return fmt.Errorf("round %d: own element %d is %g, want %g", round, i, v, want)
				}
			}
		}
		return nil
	})
}

// testSyncAllocates verifies that a barrier does not allocate.
func testSyncAllocates(t *testing.T, all []ring.Memory) {
	const runs = 20
	ctx := context.Background()
	eachWorker(t, all, func(r int, m ring.Memory) error {
		var err error
		sync := func() {
			if e := m.Sync(ctx); e != nil {
				err = e
			}
		}
		sync()
		if r != 0 {
			for range runs + 1 { // AllocsPerRun has one warm-up run
				sync()
			}
			return err
		}
		if n := testing.AllocsPerRun(runs, sync); n != 0 {
			return fmt.Errorf("%v allocations per sync, want 0", n)
		}
		return err
	})
}

// waitingFor blocks until m misses a worker and returns that worker.
func waitingFor(ctx context.Context, m ring.Memory) (int, error) {
	for {
		if r := m.Missing(); r >= 0 {
			return r, nil
		}
		if err := ctx.Err(); err != nil {
			return -1, fmt.Errorf("no worker is missing: %w", err)
		}
		runtime.Gosched()
	}
}

// testMissing verifies that Missing names the late worker, for each worker.
func testMissing(t *testing.T, all []ring.Memory) {
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	for late := range all {
		eachWorker(t, all, func(r int, m ring.Memory) error {
			if r == late {
				for q, other := range all {
					if q == late {
						continue
					}
					got, err := waitingFor(ctx, other)
					for err == nil && got != late { // others may be late for a moment
						got, err = waitingFor(ctx, other)
						if ctx.Err() != nil {
							return fmt.Errorf("worker %d misses worker %d, want %d", q, got, late)
						}
					}
					if err != nil {
						return err
					}
				}
			}
			return m.Sync(ctx)
		})
	}
}

// testNoneMissing verifies that Missing names no worker before and after a wait.
func testNoneMissing(t *testing.T, all []ring.Memory) {
	eachWorker(t, all, func(_ int, m ring.Memory) error {
		if got := m.Missing(); got != -1 {
			return fmt.Errorf("misses worker %d before it waits, want -1", got)
		}
		if err := m.Sync(context.Background()); err != nil {
			return err
		}
		if got := m.Missing(); got != -1 {
			return fmt.Errorf("misses worker %d after sync, want -1", got)
		}
		return m.Sync(context.Background()) // so that no worker leaves before all have checked
	})
}

// waitErrors runs wait on all workers but the last, and after on the last once the others wait for
// it. It returns the errors of wait.
func waitErrors(t *testing.T, all []ring.Memory, wait func(m ring.Memory) error, after func(last ring.Memory)) []error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	last := len(all) - 1
	errs := make([]error, last)
	eachWorker(t, all, func(r int, m ring.Memory) error {
		if r < last {
			errs[r] = wait(m)
			return nil
		}
		for _, other := range all[:last] {
			if _, err := waitingFor(ctx, other); err != nil {
				return err
			}
		}
		after(m)
		return nil
	})
	return errs
}

func syncOf(m ring.Memory) error { return m.Sync(context.Background()) }

// interruptAll interrupts all workers but the last.
func interruptAll(all []ring.Memory) func(ring.Memory) {
	return func(ring.Memory) {
		for _, m := range all[:len(all)-1] {
			m.Interrupt()
			m.Interrupt()
		}
	}
}

// testInterruptSync verifies that Interrupt ends a Sync and every later one.
func testInterruptSync(t *testing.T, all []ring.Memory) {
	errs := waitErrors(t, all[:2], syncOf, interruptAll(all[:2]))
	errs = append(errs, all[0].Sync(t.Context()))
	for i, err := range errs {
		if !errors.Is(err, ring.ErrClosed) {
			t.Errorf("sync %d: error %v, want ring.ErrClosed", i, err)
		}
	}
}

// testInterruptArena verifies that Interrupt ends a wait for the others' arenas.
func testInterruptArena(t *testing.T, all []ring.Memory) {
	arena := func(m ring.Memory) error {
		_, err := m.Arena(context.Background(), 10)
		return err
	}
	for _, err := range waitErrors(t, all[:2], arena, interruptAll(all[:2])) {
		if !errors.Is(err, ring.ErrClosed) {
			t.Errorf("arena: error %v, want ring.ErrClosed", err)
		}
	}
}

// testInterruptFirst verifies that Sync and Arena after Interrupt do not wait.
func testInterruptFirst(t *testing.T, all []ring.Memory) {
	all[0].Interrupt()
	if err := all[0].Sync(t.Context()); !errors.Is(err, ring.ErrClosed) {
		t.Errorf("sync: error %v, want ring.ErrClosed", err)
	}
	if _, err := all[0].Arena(t.Context(), 1); !errors.Is(err, ring.ErrClosed) {
		t.Errorf("arena: error %v, want ring.ErrClosed", err)
	}
}

// checkLastNamed verifies that all workers but the last failed because of the last.
func checkLastNamed(t *testing.T, all []ring.Memory, errs []error) {
	t.Helper()
	for r, err := range errs {
		if err == nil || errors.Is(err, ring.ErrClosed) {
			t.Errorf("worker %d: error %v, want one that is not ring.ErrClosed: this side is open", r, err)
		}
		if got := all[r].Missing(); got != len(all)-1 {
			t.Errorf("worker %d misses worker %d, want %d", r, got, len(all)-1)
		}
	}
}

// testCloseEndsOthers verifies that Close of a worker ends the others' waits, and that
// Missing names it.
func testCloseEndsOthers(t *testing.T, all []ring.Memory) {
	checkLastNamed(t, all, waitErrors(t, all, syncOf, func(last ring.Memory) {
		if err := last.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}))
}

// testInterruptEndsOthers verifies the same of Interrupt.
func testInterruptEndsOthers(t *testing.T, all []ring.Memory) {
	checkLastNamed(t, all, waitErrors(t, all, syncOf, func(last ring.Memory) { last.Interrupt() }))
}

// testLastSync verifies that a worker that leaves right after the last barrier does not end
// the others' wait in it.
func testLastSync(t *testing.T, all []ring.Memory) {
	eachWorker(t, all, func(r int, m ring.Memory) error {
		for range 20 {
			if err := m.Sync(context.Background()); err != nil {
				return err
			}
		}
		if r%2 == 0 {
			return m.Close()
		}
		m.Interrupt()
		return nil
	})
}

// testMemoryCloseTwice verifies that Close may be called again, and that a closed memory
// returns ring.ErrClosed.
func testMemoryCloseTwice(t *testing.T, all []ring.Memory) {
	eachWorker(t, all, func(_ int, m ring.Memory) error {
		_, err := m.Arena(context.Background(), 100)
		return err
	})
	for range 3 {
		if err := all[0].Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	all[0].Interrupt()
	if err := all[0].Sync(t.Context()); !errors.Is(err, ring.ErrClosed) {
		t.Errorf("sync: error %v, want ring.ErrClosed", err)
	}
}
