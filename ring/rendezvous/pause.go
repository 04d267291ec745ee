package rendezvous

import (
	"fmt"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// givenUp is how long after a pause of ours the ends of workers are put down to it. All
// that happened meanwhile is heard of at once.
const givenUp = 1 * time.Second

// notePause sees whether nothing has run here, a tick neither, for as long as workers wait
// for the rendezvous: its process was stopped, or starved.
func (s *State) notePause() {
	if gap := s.now - s.ticked; s.generation > 0 && gap > s.lease {
		s.pause, s.paused = gap, s.now
	}
}

// ours is the cause of a loss. Just after a pause of our own that is the pause: the workers
// have given the rendezvous up, and who is heard of first is no culprit. A process that has
// ended with any other code has a cause of its own.
func (s *State) ours(c *ring.Cause) *ring.Cause {
	if s.pause == 0 || s.now-s.paused > givenUp || c.ExitCode != exitcode.Retry {
		return c
	}
	text := fmt.Sprintf("the rendezvous stood still for %v (stopped, or starved): workers give it up after %v",
		s.pause.Round(time.Second), s.lease)
	return &ring.Cause{Rank: -1, Step: c.Step, Text: text, ExitCode: c.ExitCode}
}
