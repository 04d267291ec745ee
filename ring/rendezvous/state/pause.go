package state

import (
	"fmt"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// The process of a rendezvous may be stopped (SIGSTOP), its machine may be paused, or it may get no
// processor time. Meanwhile no heartbeat goes either way, and the workers take the rendezvous for
// lost, and end. The state detects its own pause by the missing ticks: the first worker that is seen
// to end is not at fault.

// pauseBlameTime is how long after a pause of the rendezvous the end of a worker counts as caused
// by the pause.
const pauseBlameTime = 1 * time.Second

// detectPause detects that no tick came for so long that workers may have given up the rendezvous.
func (s *State) detectPause() {
	if gap := s.now - s.lastTick; gap > s.lease && s.generation > 0 {
		s.lastPause, s.lastPauseEnd = gap, s.now
	}
}

// restartWaits restarts every wait after a pause of this process. No worker was heard meanwhile.
// The workers may have been stopped too, as by Ctrl-Z, and wake after the rendezvous.
func (s *State) restartWaits(pause time.Duration) {
	s.waitSince += pause
	s.generationEnded = max(s.generationEnded, s.awake)
	s.judgeAt = max(s.judgeAt, s.now+suspicionTime)
	for _, m := range s.members {
		m.lastHeard, m.unchangedSince = max(m.lastHeard, s.awake), s.awake
	}
}

// pauseCause returns the cause of a loss: shortly after a pause the pause, otherwise c. A process with
// an exit code other than exitcode.Retry has a cause of its own.
func (s *State) pauseCause(c *ring.Cause) *ring.Cause {
	if s.lastPause == 0 || s.now-s.lastPauseEnd > pauseBlameTime || c.ExitCode != exitcode.Retry {
		return c
	}
	text := fmt.Sprintf("the rendezvous stood still for %v (stopped, or starved): workers give it up after %v",
		s.lastPause.Round(time.Second), s.lease)
	return &ring.Cause{Rank: -1, Step: c.Step, Text: text, ExitCode: c.ExitCode}
}
