package state

import (
	"slices"

	"ringtrain/ring"
)

// fail ends the job with cause c and sends c to all members and to the given other streams. Only
// the first cause counts. If c may be retried, the first cause since the last completed step
// replaces c. A life that another rendezvous has begun ends alone: workers that have come for the
// next life stay.
func (s *endingState) fail(c *ring.Cause, streams ...uint64) {
	if s.phase == phaseEnded {
		return
	}
	if s.known.Cause != nil && retryable(c) {
		c = s.known.Cause
	}
	c = s.withLatestStep(c)
	aside := s.adopted && s.inLife()
	for _, m := range s.members {
		if m.present() && !(aside && m.fresh) {
			s.emit(SendAbort{m.stream, c})
		}
	}
	for _, id := range streams {
		s.emit(SendAbort{id, c})
	}
	if aside {
		s.endLife(c)
		return
	}
	s.phase, s.cause = phaseEnded, c
	s.announceEnd()
}

// endLife ends an adopted life. Its workers hear c when they come again.
func (s *endingState) endLife(c *ring.Cause) {
	fresh := slices.DeleteFunc(slices.Clone(s.members), func(m *member) bool { return !m.fresh })
	s.dead, s.known, s.run, s.adopted = s.known, Record{}, run{}, false
	s.dead.Cause = c
	s.phase, s.members, s.byStream, s.suspicions, s.stop = phaseEmpty, nil, map[uint64]*member{}, suspicions{}, stop{}
	clear(s.wait.absences)
	for _, m := range fresh {
		s.held = append(s.held, heldJoin{Joined: Joined{m.stream, m.Request}})
	}
	s.notify(c.Error(), nil)
}

// leave notes that a member has done its work. When all members have left, the job ends.
func (s *endingState) leave(e Left) {
	m := s.byStream[e.Stream]
	switch {
	case m == nil:
	case s.phase == phaseForming:
		s.remove(m, "was here, left before the start")
	case s.phase == phaseRunning: // otherwise the member does not know yet that the generation has ended
		m.place = left
		s.endIfAllLeft()
	}
}

// endIfAllLeft ends the job if all members have done their work.
func (s *endingState) endIfAllLeft() {
	if s.phase != phaseRunning || slices.ContainsFunc(s.members, func(m *member) bool { return m.place != left }) {
		return
	}
	s.phase = phaseEnded
	for _, m := range s.members {
		if m.present() {
			s.emit(SendEnd{m.stream})
		}
	}
	s.announceEnd()
}

// announceEnd tells the owner the end. Members that are away come again to hear it: the rendezvous
// waits for them for the lease at most. A launcher ends the processes of its ranks itself.
func (s *endingState) announceEnd() {
	if s.inNeedOfEnd() && !s.config.Unique {
		s.endUntil = s.clock.now + s.lease.current
		return
	}
	s.emit(Finish{s.cause})
}

// inNeedOfEnd reports whether a member may come again to hear the end.
func (s *endingState) inNeedOfEnd() bool {
	return slices.ContainsFunc(s.members, func(m *member) bool { return !m.fresh && !m.present() && !m.portClosed })
}

// endConfirmed takes in that a member has received the end.
func (s *endingState) endConfirmed(e EndConfirmed) {
	if m := s.byStream[e.Stream]; m != nil && s.phase == phaseEnded {
		s.remove(m, "was here, has heard the end")
	}
}

// finishWhenConfirmed tells the owner the end when all awaited members have received it or their
// time is over.
func (s *endingState) finishWhenConfirmed() {
	if s.endUntil == 0 || s.clock.now < s.endUntil && s.inNeedOfEnd() {
		return
	}
	s.endUntil = 0
	s.emit(Finish{s.cause})
}

// retryable reports whether another start of the same job may help.
func retryable(c *ring.Cause) bool { return c.ExitCode >= leastRetryable }

// leastRetryable is the lowest exit code that allows a retry.
const leastRetryable = 128
