package kernel

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
)

// count counts the calls per index, and calls with a wrong thread.
type count struct {
	grain   int
	seen    []atomic.Int32
	busy    []atomic.Int32 // active calls, by thread
	trouble atomic.Int32
}

func (c *count) Span(lo, hi, thread int) {
	if c.busy[thread].Add(1) != 1 || lo%c.grain != 0 || hi-lo < c.grain && hi != len(c.seen) {
		c.trouble.Add(1)
	}
	for i := lo; i < hi; i++ {
		c.seen[i].Add(1)
	}
	c.busy[thread].Add(-1)
}

// TestRun verifies that spans cover every index once and begin at multiples of grain,
// and that no two run on one thread at a time. Many consecutive runs meet helpers that
// wake late.
func TestRun(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8} {
		e := New(Portable, threads)
		defer e.Close()
		for _, n := range []int{0, 1, 2, 7, 64, 1000} {
			for _, grain := range []int{1, 5, 64} {
				t.Run(fmt.Sprintf("threads=%d/n=%d/grain=%d", threads, n, grain), func(t *testing.T) {
					const runs = 200
					c := &count{grain: grain, seen: make([]atomic.Int32, n), busy: make([]atomic.Int32, threads)}
					for range runs {
						e.Run(n, grain, c)
					}
					for i := range c.seen {
						if got := c.seen[i].Load(); got != runs {
							t.Fatalf("index %d is covered %d times, want %d", i, got, runs)
						}
					}
					if c.trouble.Load() != 0 {
						t.Error("a span is shorter than grain, begins elsewhere, or shares its thread")
					}
				})
			}
		}
	}
}

// TestRunAllocs verifies that a run on several threads allocates nothing.
func TestRunAllocs(t *testing.T) {
	e := New(Portable, 3)
	defer e.Close()
	c := &count{grain: 1, seen: make([]atomic.Int32, 100), busy: make([]atomic.Int32, 3)}
	if got := testing.AllocsPerRun(100, func() { e.Run(100, 1, c) }); got != 0 {
		t.Errorf("Run allocates %v times, want 0", got)
	}
}

// TestClose verifies that Close ends all helpers and may be called again.
func TestClose(t *testing.T) {
	e := New(Portable, 4)
	e.Close()
	e.Close()
	New(Portable, 1).Close()
}

// TestNew verifies that New refuses sets that this machine lacks.
func TestNew(t *testing.T) {
	for name, f := range map[string]func(){
		"threads=0": func() { New(Portable, 0) },
		"set=-1":    func() { New(Portable-1, 1) },
		"set=above": func() { New(highest()+1, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("New returns, want a panic")
				}
			}()
			f()
		})
	}
}

// TestAssembly logs the sets whose assembly the other tests omit on this machine: those
// tests use [Sets].
func TestAssembly(t *testing.T) {
	for _, s := range []Set{AVX2, AVX512} {
		t.Run(s.String(), func(t *testing.T) {
			if !slices.Contains(Sets(), s) {
				t.Skipf("there is no %v in this build, or not for this processor", s)
			}
			e := New(s, 1)
			defer e.Close()
			y := []float32{0}
			e.Gemm(y, []float32{1 + 0x1p-12}, []float32{1 + 0x1p-12}, []float32{-1}, 1, 1, 1, None)
			if y[0] != 0x1p-11 {
				t.Errorf("(1+2⁻¹²)² - 1 is %g, want 2⁻¹¹", y[0])
			}
		})
	}
}

// TestSets verifies that ParseSet accepts the name of every set of this machine, and
// that the error for another name lists the names.
func TestSets(t *testing.T) {
	for i, s := range Sets() {
		if got, err := ParseSet(s.String()); err != nil || got != s || int(s) != i {
			t.Errorf("ParseSet(%q) = %v, %v, want set %d", s, got, err, i)
		}
	}
	const want = `kernel set is "sse", want one of portable, avx2, avx512`
	if _, err := ParseSet("sse"); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// faulty panics on a helper. The caller waits until a helper has begun.
type faulty struct{ begun chan struct{} }

func (f *faulty) Span(_, _, thread int) {
	if thread > 0 {
		close(f.begun)
		panic("broken")
	}
	<-f.begun
}

// TestRunPanics verifies that a panic of a helper is one of the caller, who can go on after it.
func TestRunPanics(t *testing.T) {
	e := New(Portable, 2)
	defer e.Close()
	for range 3 {
		func() {
			defer func() {
				if bug := recover(); bug != "broken" {
					t.Errorf("panic %v, want broken", bug)
				}
			}()
			e.Run(2, 1, &faulty{make(chan struct{})})
		}()
	}
}
