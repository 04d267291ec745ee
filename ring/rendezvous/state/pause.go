package state

import "time"

// The process of a rendezvous may be stopped (SIGSTOP), its machine may be paused, or it may get no
// processor time. Meanwhile no heartbeat goes either way. The state detects its own pause by the
// missing ticks: every silence, lease and wait begins again.

// detectPause begins all waits again if no tick came for so long that workers may have dialled
// anew. It runs before the first event after the pause, which may be the end of a stream.
func (s *State) detectPause() {
	gap := s.clock.now - s.clock.lastTick
	if gap < max(longestPause, s.lease.current/2) {
		return
	}
	s.clock.listensSince = s.clock.now
	if s.phase != phaseEmpty {
		s.clock.awake += min(gap, longestPause)
		s.clock.lastTick = s.clock.now
		s.restartWaits(gap)
	}
}

// restartWaits restarts every wait after a pause of this process. No worker was heard meanwhile.
// The workers may have been stopped too, as by Ctrl-Z, and wake after the rendezvous.
func (s *State) restartWaits(pause time.Duration) {
	now := s.clock.now
	s.wait.since += pause
	s.cutOff.since = max(s.cutOff.since, s.clock.awake)
	if len(s.suspicions.list) > 0 {
		s.suspicions.judgeAt = now + suspicionTime
	}
	if s.stop.decideAt != 0 {
		s.stop.decideAt = now + leaveTime
	}
	if s.endUntil != 0 {
		s.endUntil = now + s.lease.current
	}
	for _, m := range s.members {
		m.heard(s.clock.awake)
		m.unchangedSince, m.brokeAt = s.clock.awake, max(m.brokeAt, now-goneAfter+portProbeEvery)
	}
}
