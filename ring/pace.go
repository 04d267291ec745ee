package ring

import "sync"

// A pace is a count that one goroutine raises and another one waits for.
type pace struct {
	mu    sync.Mutex
	moved sync.Cond
	n     int
	over  bool // n rises no more
}

func (p *pace) init() { p.moved.L = &p.mu }

// reset begins a new count. Nobody may be waiting.
func (p *pace) reset() {
	p.mu.Lock()
	p.n, p.over = 0, false
	p.mu.Unlock()
}

// raise adds k to the count.
func (p *pace) raise(k int) {
	p.mu.Lock()
	p.n += k
	p.mu.Unlock()
	p.moved.Signal()
}

// finish says that the count rises no more.
func (p *pace) finish() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.moved.Signal()
}

// await blocks until the count is n or more, or false if it never will be.
func (p *pace) await(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.n < n && !p.over {
		p.moved.Wait()
	}
	return p.n >= n
}
