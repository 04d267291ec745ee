package ring

import "sync"

// A sendQueue counts the frames of an operation that are ready to send and those that are sent.
// The caller's goroutine announces frames, and the sender sends them. While no announced frame
// is unsent, the caller's goroutine may send a frame itself.
type sendQueue struct {
	mu            sync.Mutex
	moved         sync.Cond // over mu; one goroutine at a time waits: for a frame to send, or for a frame sent
	announced     int
	sent          int
	over, stopped bool // no more are announced; no more are sent
}

func (t *sendQueue) init() { t.moved.L = &t.mu }

// reset begins a new count. No goroutine may wait.
func (t *sendQueue) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.announced, t.sent, t.over, t.stopped = 0, 0, false, false
}

// idle reports whether all announced frames are sent.
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

// countSent counts a frame that was sent without an announcement.
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

// next blocks until there is a frame to send. It returns false if no more come.
func (t *sendQueue) next() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.sent == t.announced && !t.over {
		t.moved.Wait()
	}
	return t.sent < t.announced
}

// markSent counts an announced frame as sent.
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

// await blocks until n frames are sent. It returns false if they never will be.
func (t *sendQueue) await(n int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.sent < n && !t.stopped {
		t.moved.Wait()
	}
	return t.sent >= n
}
