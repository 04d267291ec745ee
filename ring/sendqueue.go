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

func (s *sendQueue) init() { s.moved.L = &s.mu }

// reset begins a new count. No goroutine may wait.
func (s *sendQueue) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.announced, s.sent, s.over, s.stopped = 0, 0, false, false
}

// idle reports whether all announced frames are sent.
func (s *sendQueue) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent == s.announced
}

// hasSent reports whether n frames are sent.
func (s *sendQueue) hasSent(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent >= n
}

// countSent counts a frame that was sent without an announcement.
func (s *sendQueue) countSent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.announced++
	s.sent++
}

// announce adds k frames to send.
func (s *sendQueue) announce(k int) {
	s.mu.Lock()
	s.announced += k
	s.mu.Unlock()
	s.moved.Signal()
}

// finish says that no more frames come.
func (s *sendQueue) finish() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.moved.Signal()
}

// next blocks until there is a frame to send. It returns false if no more come.
func (s *sendQueue) next() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.sent == s.announced && !s.over {
		s.moved.Wait()
	}
	return s.sent < s.announced
}

// markSent counts an announced frame as sent.
func (s *sendQueue) markSent() {
	s.mu.Lock()
	s.sent++
	s.mu.Unlock()
	s.moved.Signal()
}

// stop says that no more frames will be sent.
func (s *sendQueue) stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.moved.Signal()
}

// await blocks until n frames are sent. It returns false if they never will be.
func (s *sendQueue) await(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.sent < n && !s.stopped {
		s.moved.Wait()
	}
	return s.sent >= n
}
