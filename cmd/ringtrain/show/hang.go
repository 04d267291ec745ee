package show

import (
	"fmt"
	"time"

	"ringtrain/ring/rendezvous"
)

// hangTime is the time after which a wait is a hang.
const hangTime = time.Second / 2

// Hang has the live block name the rank that the others wait for while nothing moves.
func (r *Reporter) Hang(s rendezvous.Status) {
	if r.live == nil {
		return
	}
	r.run.mu.Lock()
	r.run.hang = hangOf(s)
	r.run.mu.Unlock()
	r.live.touch()
}

// hangOf follows the longest wait up to a rank that does not wait itself. It returns "" if no rank waits for long.
func hangOf(s rendezvous.Status) string {
	waits := func(rank int) bool {
		r := s.Ranks[rank]
		return r.Present && r.For >= hangTime && r.Wait.Peer >= 0 && r.Wait.Peer < len(s.Ranks)
	}
	first := -1
	for rank, r := range s.Ranks {
		if waits(rank) && (first < 0 || r.For > s.Ranks[first].For) {
			first = rank
		}
	}
	if first < 0 {
		return ""
	}
	root := first
	for range s.Ranks { // the waits may form a circle
		if waits(root) {
			root = s.Ranks[root].Wait.Peer
		}
	}
	return fmt.Sprintf("others have waited %s for rank %d", lasting(s.Ranks[first].For.Round(time.Second/10)), root)
}
