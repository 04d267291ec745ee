package rendezvous

import (
	"fmt"
	"time"

	"ringtrain/ring"
)

// unprovedNoticeEvery is the time between two notices of workers without the token. Such a worker
// tries again and again, and any process can be one.
const unprovedNoticeEvery = 10 * time.Second

// noteRefusal tells people that a worker is refused alone. Of a worker with a wrong token only the
// rank is known that it claims.
func (s *Server) noteRefusal(w ring.Worker, c *ring.Cause) {
	if w.PID != 0 {
		s.tellOwner(fmt.Sprintf("refused pid %d on %s (%s): %s", w.PID, w.Host, w.Addr, c.Text))
		return
	}
	s.mu.Lock()
	due := s.unprovedTold.IsZero() || time.Since(s.unprovedTold) >= unprovedNoticeEvery
	if due {
		s.unprovedTold = time.Now()
	}
	s.mu.Unlock()
	if due {
		s.tellOwner(fmt.Sprintf("refused a worker that claims rank %d: %s", w.Rank, c.Text))
	}
}
