package kernel

import (
	"runtime/debug"
	"sync"
)

// An Engine runs the kernels of one set on a fixed number of threads and owns their
// scratch memory. One goroutine at a time may use it, for example a model.
//
// The bits of a result depend on the set only, not on the number of threads or the other
// rows of the batch. A call allocates nothing after the scratch memory has grown to the
// sizes in use.
type Engine struct {
	set     Set
	threads []thread // by thread; the caller's is first
	pool    pool
	worth   int // minimum multiplications for more than one thread

	mul        matmul
	conv       correlation
	kernelGrad kernelGrad
	inputGrad  inputGrad
	lists      listed
	packed     []float32 // kernels of a convolution, by tiles
	transposed []float32 // transposed result
	vector
}

// thread has the memory of one thread of an Engine.
type thread struct {
	a, b []float32 // packed parts of the factors
	tile tile      // arguments of the micro-kernel

	gather gather // arguments of the kernel of listed rows
	rows   rowBlock
}

// New returns an Engine with the kernels of s on the given number of threads: the
// calling goroutine and threads-1 helpers. A helper sleeps between calls and never
// spins. With one thread there is no helper.
//
// New panics if this machine does not have s or if threads is not positive.
func New(s Set, threads int) *Engine {
	if s < Portable || s > highest() {
		panic("kernel: New: this machine does not have the set")
	}
	if threads < 1 {
		panic("kernel: New: number of threads is not positive")
	}
	e := &Engine{set: s, threads: make([]thread, threads), worth: worthThreads}
	e.pool.start(threads - 1)
	return e
}

// Close ends the helpers and waits for their end. The Engine must not be used
// afterwards, except that Close may be called again.
func (e *Engine) Close() { e.pool.close() }

// Set returns the set of kernels.
func (e *Engine) Set() Set { return e.set }

// Threads returns the number of threads.
func (e *Engine) Threads() int { return len(e.threads) }

// A Task is work on the indices [0, n) that threads may share.
type Task interface {
	// Span computes the indices [lo, hi) on the thread with that number, which is below
	// [Engine.Threads]. No two concurrent calls have the same number, so a thread may
	// own scratch memory.
	Span(lo, hi, thread int)
}

// Run calls t.Span for spans that cover [0, n) once, and returns when all calls have
// returned. A span begins at a multiple of grain and has at least that length, except
// for the last one. Spans run on all threads in any order, so their results must not
// depend on their bounds.
//
// A task of up to grain indices runs on the calling goroutine. A pointer as Task costs
// no allocation. A Task must not call Run.
func (e *Engine) Run(n, grain int, t Task) {
	grain = max(grain, 1)
	switch {
	case n <= 0:
	case len(e.threads) == 1 || n <= grain:
		t.Span(0, n, 0)
	default:
		e.pool.run(n, grain, t)
	}
}

// pool distributes the spans of one task at a time. Its helpers wait on wake. A helper
// that wakes late finds no span, so the caller does not wait for it.
type pool struct {
	wake chan struct{} // has a token for each helper of the task
	done chan struct{} // the last active helper has finished
	ends sync.WaitGroup

	mu       sync.Mutex
	task     Task
	n, grain int
	next     int  // first index without a thread
	active   int  // active helpers
	waiting  bool // the caller is waiting on done
	panicked any  // of a helper
	closed   bool
}

func (p *pool) start(helpers int) {
	if helpers == 0 {
		return
	}
	p.wake, p.done = make(chan struct{}, helpers), make(chan struct{}, 1)
	for i := range helpers {
		p.ends.Go(func() { p.help(i + 1) })
	}
}

func (p *pool) close() {
	if p.wake != nil && !p.closed {
		close(p.wake)
		p.ends.Wait()
	}
	p.closed = true
}

func (p *pool) run(n, grain int, t Task) {
	p.mu.Lock()
	p.task, p.n, p.grain, p.next = t, n, grain, 0
	p.mu.Unlock()
	for range min(cap(p.wake), (n-1)/grain) {
		select {
		case p.wake <- struct{}{}:
		default: // a token of the previous task remains
		}
	}
	for lo, hi := p.take(); lo < hi; lo, hi = p.take() {
		t.Span(lo, hi, 0)
	}
	p.mu.Lock()
	p.task = nil
	wait := p.active > 0
	p.waiting = wait
	p.mu.Unlock()
	if wait {
		<-p.done
	}
	if bug := p.panicked; bug != nil {
		p.panicked = nil
		panic(bug)
	}
}

// help is the loop of the helper with that thread number.
func (p *pool) help(thread int) {
	debug.SetPanicOnFault(true)
	for range p.wake {
		p.mu.Lock()
		t := p.task
		if t == nil || p.next >= p.n {
			p.mu.Unlock()
			continue
		}
		p.active++
		p.mu.Unlock()
		p.spans(t, thread)
		p.mu.Lock()
		p.active--
		last := p.active == 0 && p.waiting
		if last {
			p.waiting = false
		}
		p.mu.Unlock()
		if last {
			p.done <- struct{}{}
		}
	}
}

// spans computes spans until none is left. A panic, also that of a fault in mapped memory, becomes one of
// the caller.
func (p *pool) spans(t Task, thread int) {
	defer func() {
		if bug := recover(); bug != nil {
			p.mu.Lock()
			p.panicked = bug
			p.mu.Unlock()
		}
	}()
	for lo, hi := p.take(); lo < hi; lo, hi = p.take() {
		t.Span(lo, hi, thread)
	}
}

// take returns the next span, empty if none is left. The first spans are large and the
// last ones small, so that threads end together.
func (p *pool) take() (lo, hi int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.n - p.next
	if left <= 0 {
		return p.n, p.n
	}
	size := left / (2 * (cap(p.wake) + 1))
	size = max(size-size%p.grain, p.grain)
	lo, hi = p.next, min(p.next+size, p.n)
	p.next = hi
	return lo, hi
}
