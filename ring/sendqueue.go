package ring

import "sync"

// A sendQueue counts the frames of an operation: those that may be sent and those that
// were. One goroutine announces frames; another one, the sender, sends them. The first
// may send one itself while none is announced that is not sent.
type sendQueue struct {
	mu            sync.Mutex
	moved         sync.Cond // over mu; no two wait: one for a frame to send, one for a frame sent
	announced     int
	sent          int
	over, stopped bool // no more are announced; no more are sent
}

func (t *sendQueue) init() { t.moved.L = &t.mu }

// reset begins a new count. Nobody may be waiting.
func (t *sendQueue) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.announced, t.sent, t.over, t.stopped = 0, 0, false, false
}

// idle tells whether all frames that were announced are sent.
func (t *sendQueue) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent == t.announced
}

// hasSent reports whether n frames are sent.
func (t *sendQueue) hasSent(n int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent >= n
}

// countSent enters a frame that was sent and not announced.
func (t *sendQueue) countSent() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.announced++
	t.sent++
}

// announce adds k frames to send.
func (t *sendQueue) announce(k int) {
	t.mu.Lock()
	t.announced += k
	t.mu.Unlock()
	t.moved.Signal()
}

// finish says that no more frames come.
func (t *sendQueue) finish() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.moved.Signal()
}

// next blocks until there is a frame to send, or false if there is no more.
func (t *sendQueue) next() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.sent == t.announced && !t.over {
		t.moved.Wait()
	}
	return t.sent < t.announced
}

// markSent enters that an announced frame is sent.
func (t *sendQueue) markSent() {
	t.mu.Lock()
	t.sent++
	t.mu.Unlock()
	t.moved.Signal()
}

// stop says that no more frames will be sent.
func (t *sendQueue) stop() {
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
	t.moved.Signal()
}

// await blocks until n frames are sent, or false if they never will be.
func (t *sendQueue) await(n int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.sent < n && !t.stopped {
		t.moved.Wait()
	}
	return t.sent >= n
}
