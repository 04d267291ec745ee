package state

import (
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// A process is stopped (SIGSTOP), its machine is paused, or it gets no processor. Then it
// hears nothing of its workers, and they nothing of it. They take it for lost. The state
// sees its own pause by the ticks that did not come.
//
// The workers of a rendezvous with a journal go on, and come back. Their streams break
// by the pause, so a broken stream proves nothing for as long as they need for that. The
// port of a worker still does: nobody listens where a process has ended. A worker that
// gives its stream up says so: that is heard also where our clock has not seen the pause.
//
// The workers of any other rendezvous end. The first that is heard of is no culprit.

// givenUp is how long after a pause of ours the ends of workers are put down to it. All
// that happened meanwhile is heard of at once.
const pauseBlameTime = 1 * time.Second

// probeAgain is the time between two looks at the ports of workers whose streams broke
// by a pause. The first comes as late: most of them are back by then.
const portProbeEvery = 500 * time.Millisecond

// notePause detects that no tick came for so long that workers may have given the
// rendezvous up.
func (s *State) detectPause() {
	gap := s.now - s.lastTick
	switch {
	case s.config.HasJournal && gap >= s.lease-2*heartbeatEvery(s.lease):
		s.awaitReturn(gap)
	case !s.config.HasJournal && gap > s.lease && s.generation > 0:
		s.lastPause, s.lastPauseEnd = gap, s.now
	}
}

// beatEvery is the time between two heartbeats at a lease. A worker may have heard the
// last one before our pause so long ago, and it counts in such units.
func heartbeatEvery(lease time.Duration) time.Duration { return min(HeartbeatEvery, lease/3) }

// awaitBack gives every worker a lease from now to come back. No clock has run meanwhile
// for anybody: neither for the lost to return, nor for better evidence to arrive.
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

// grace is how long a worker may take to come back: the lease, and the moment that it
// needs however short that is.
func (s *State) returnTimeout() time.Duration { return max(s.lease, returnGrace) }

// oversleep starts every wait for others anew after a pause of our own, however short:
// nobody was heard meanwhile, and no clock has run for those who are awaited. The workers
// may have been stopped, too, as by Ctrl-Z, and wake after the rendezvous.
func (s *State) restartWaits(pause time.Duration) {
	s.waitSince += pause
	s.generationEnded = max(s.generationEnded, s.awake)
	s.judgeAt = max(s.judgeAt, s.now+suspicionTime)
	for _, m := range s.members {
		m.lastHeard, m.unchangedSince = max(m.lastHeard, s.awake), s.awake
	}
}

// tellPause tells people of the last pause, once.
func (s *State) notifyPause() {
	if !s.config.HasJournal || s.lastPause == 0 {
		return
	}
	s.notify(fmt.Sprintf("the rendezvous stood still for %v (stopped, or starved): the ranks have %v to come back to it",
		s.lastPause.Round(100*time.Millisecond), (s.graceUntil-s.lastPauseEnd).Round(100*time.Millisecond)), nil)
	s.lastPause = 0
}

// goneAway takes in that a worker has heard nothing of us for the lease. Our clock need not
// have seen why: that of a machine that is paused stands, too.
func (s *State) streamAbandoned(e StreamAbandoned) {
	if m := s.byStream[e.Stream]; m != nil && s.config.HasJournal && m.connection == connOpen {
		m.connection = connClosing
	}
}

// merciful reports whether a stream that breaks now may have broken by our pause. closing
// says that the worker has announced it.
func (s *State) brokenByPause(closing bool) bool {
	return (s.now < s.graceUntil || closing) && (s.phase == phaseRunning || s.phase == phaseRecovering)
}

// await keeps the place of a worker whose stream broke by our pause. The worker says
// again what was not answered, so what it has said of others is dropped: if it does not
// come back it may itself be what they have met.
func (s *State) keepPlace(m *member, why string, closing bool) {
	if m.progress == readyForNext {
		m.progress = inGeneration
	}
	m.breakReason = why
	if closing {
		m.lastHeard = max(m.lastHeard, s.awake+s.returnTimeout()-s.lease)
		s.nextPortProbe = s.now + portProbeEvery
	}
	s.suspicions = slices.DeleteFunc(s.suspicions, func(x suspicion) bool { return x.by == m })
}

// lookAfter looks at the ports of workers that have not come back yet.
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

// ours is the cause of a loss. Just after a pause of our own that is the pause: the workers
// have given the rendezvous up, and who is heard of first is no culprit. A process that has
// ended with any other code has a cause of its own.
func (s *State) pauseCause(c *ring.Cause) *ring.Cause {
	if s.config.HasJournal || s.lastPause == 0 || s.now-s.lastPauseEnd > pauseBlameTime || c.ExitCode != exitcode.Retry {
		return c
	}
	text := fmt.Sprintf("the rendezvous stood still for %v (stopped, or starved): workers give it up after %v",
		s.lastPause.Round(time.Second), s.lease)
	return &ring.Cause{Rank: -1, Step: c.Step, Text: text, ExitCode: c.ExitCode}
}
