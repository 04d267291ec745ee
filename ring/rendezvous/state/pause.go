package state

import (
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// The process of a rendezvous may be stopped (SIGSTOP), its machine may be paused, or it may get no
// processor time. Meanwhile no heartbeat goes either way, and the workers take the rendezvous for
// lost. The state detects its own pause by the missing ticks.
//
// Workers of a rendezvous with a journal go on and reconnect. Their streams break because of the
// pause, so for a while a broken stream is no evidence of a loss. A refused connection to the
// worker's port is: the process has ended. A worker that closes its stream announces this, so the
// state learns of a pause that its own clock does not show.
//
// Workers of a rendezvous without a journal end. The first one to be seen is not at fault.

// pauseBlameTime is how long after a pause of the rendezvous the end of a worker counts as caused
// by the pause.
const pauseBlameTime = 1 * time.Second

// portProbeEvery is the time between two probes of the ports of awaited members. The first probe
// comes after the same time: most members have reconnected by then.
const portProbeEvery = 500 * time.Millisecond

// detectPause detects that no tick came for so long that workers may have given up the rendezvous.
func (s *State) detectPause() {
	gap := s.now - s.lastTick
	switch {
	case s.config.HasJournal && gap >= s.lease-2*heartbeatEvery(s.lease):
		s.awaitReturn(gap)
	case !s.config.HasJournal && gap > s.lease && s.generation > 0:
		s.lastPause, s.lastPauseEnd = gap, s.now
	}
}

// heartbeatEvery returns the time between two heartbeats at the given lease. A worker counts
// silence in units of this time.
func heartbeatEvery(lease time.Duration) time.Duration { return min(HeartbeatEvery, lease/3) }

// awaitReturn gives every member a lease from now to reconnect. The waits for lost ranks and for
// evidence start again, too.
func (s *State) awaitReturn(gap time.Duration) {
	s.awake += min(gap, longestPause)
	s.lastTick = s.now
	s.restartWaits(gap)
	s.graceUntil, s.nextPortProbe = s.now+s.returnTimeout(), s.now+portProbeEvery
	later := s.awake + s.returnTimeout() - s.lease
	for _, m := range s.members {
		m.lastHeard, m.nextSilenceNotice = max(m.lastHeard, later), 0
	}
	s.generationEnded = max(s.generationEnded, later)
	if s.decideLeaveAt != 0 {
		s.decideLeaveAt = max(s.decideLeaveAt, s.now+leaveTime)
	}
	if s.endUntil != 0 {
		s.endUntil = max(s.endUntil, s.now+s.returnTimeout())
	}
	if s.generation > 0 {
		s.lastPause, s.lastPauseEnd = gap, s.now
	}
}

// returnTimeout returns how long a member may take to reconnect: the lease, and at least
// returnGrace.
func (s *State) returnTimeout() time.Duration { return max(s.lease, returnGrace) }

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

// notifyPause tells people of the last pause, once.
func (s *State) notifyPause() {
	if !s.config.HasJournal || s.lastPause == 0 {
		return
	}
	s.notify(fmt.Sprintf("the rendezvous stood still for %v (stopped, or starved): the ranks have %v to reconnect",
		s.lastPause.Round(100*time.Millisecond), (s.graceUntil-s.lastPauseEnd).Round(100*time.Millisecond)), nil)
	s.lastPause = 0
}

// streamAbandoned takes in that a member has heard nothing for the lease. The clock of the
// rendezvous may not show why: it stands still in a machine that is paused.
func (s *State) streamAbandoned(e StreamAbandoned) {
	if m := s.byStream[e.Stream]; m != nil && s.config.HasJournal && m.connection == connOpen {
		m.connection = connClosing
	}
}

// brokenByPause reports whether a stream that breaks now may have broken because of a pause.
// closing reports that the member has announced it.
func (s *State) brokenByPause(closing bool) bool {
	return (s.now < s.graceUntil || closing) && (s.phase == phaseRunning || s.phase == phaseRecovering)
}

// keepPlace keeps the place of a member whose stream broke because of a pause. The suspicions of
// the member are dropped: the member sends them again when it reconnects. If it does not reconnect,
// it may itself be the rank that others have met.
func (s *State) keepPlace(m *member, reason string, closing bool) {
	if m.progress == readyForNext {
		m.progress = inGeneration
	}
	m.breakReason = reason
	if closing {
		m.lastHeard = max(m.lastHeard, s.awake+s.returnTimeout()-s.lease)
		s.nextPortProbe = s.now + portProbeEvery
	}
	s.suspicions = slices.DeleteFunc(s.suspicions, func(x suspicion) bool { return x.by == m })
}

// probeAwaited probes the ports of members that have not reconnected yet.
func (s *State) probeAwaited() {
	if s.now < s.nextPortProbe || s.phase == phaseFinished && s.endUntil == 0 {
		return
	}
	s.nextPortProbe = s.now + portProbeEvery
	for _, m := range s.members {
		if m.breakReason != "" && m.awaitedBack() && (!m.progress.left() || s.phase == phaseFinished) && m.Worker.Addr != "" && s.reachable(&m.Worker) {
			s.emit(Probe{s.jobID, m.Rank, m.Worker.Addr})
		}
	}
}

// pauseCause returns the cause of a loss: shortly after a pause without a journal the pause,
// otherwise c. A process with an exit code other than exitcode.Retry has a cause of its own.
func (s *State) pauseCause(c *ring.Cause) *ring.Cause {
	if s.config.HasJournal || s.lastPause == 0 || s.now-s.lastPauseEnd > pauseBlameTime || c.ExitCode != exitcode.Retry {
		return c
	}
	text := fmt.Sprintf("the rendezvous stood still for %v (stopped, or starved): workers give it up after %v",
		s.lastPause.Round(time.Second), s.lease)
	return &ring.Cause{Rank: -1, Step: c.Step, Text: text, ExitCode: c.ExitCode}
}
