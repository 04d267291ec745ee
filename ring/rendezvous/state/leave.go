package state

import (
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// A signal to one worker may mean that this worker alone is to leave. It may also be the first of
// many signals: a scheduler that ends a job signals all ranks, one after the other. So the first
// request to leave waits for others for leaveTime. The whole job stops at one agreed step if all
// members have asked by then, if the launcher says so, or if no restart is left. Otherwise each
// worker that asked hears nothing and leaves alone, which is a loss.

// leaveTime is how long the first request to leave waits for others.
const leaveTime = 500 * time.Millisecond

// stop is the stop of all workers.
type stop struct {
	code     int           // exit code with which all workers stop; 0: they go on
	member   *member       // the one member that a signal told to end; nil: the launcher, or several members
	decideAt time.Duration // time at which the requests to leave are decided; 0: no request
}

// by returns the one rank that a signal told to end, or -1.
func (s *stop) by() int {
	if s.member == nil {
		return -1
	}
	return s.member.Rank
}

// leaveRequested takes in a member's request to leave.
func (s *endingState) leaveRequested(e LeaveRequested) {
	m := s.byStream[e.Stream]
	if m == nil || !s.inLife() || e.Code == exitcode.OK {
		return
	}
	m.leaveCode = e.Code
	switch {
	case s.stop.code != 0:
		if s.stop.member != m {
			s.stop.member = nil
		}
		s.emit(SendStop{m.stream, s.stop.code, s.stop.by()})
	case s.RestartsLeft() == 0:
		s.stopAll(e.Code, m)
	case s.stop.decideAt == 0:
		s.stop.decideAt = s.clock.now + leaveTime
	}
}

// decideLeaving decides the requests to leave when leaveTime is over. It does not decide earlier if
// all have asked: they may be on one host whose launcher agent is gone. During leaveTime the
// launcher then reports them as lost, and they are replaced.
func (s *endingState) decideLeaving() {
	if s.stop.decideAt == 0 || s.clock.now < s.stop.decideAt {
		return
	}
	s.stop.decideAt = 0
	asking := slices.DeleteFunc(slices.Clone(s.members), func(m *member) bool { return m.leaveCode == 0 })
	if len(asking) == 0 || len(asking) <= s.RestartsLeft() && len(asking) < len(s.members) {
		return
	}
	var alone *member
	if len(asking) == 1 {
		alone = asking[0]
	}
	s.stopAll(asking[0].leaveCode, alone)
}

// stopAll makes all members stop at one step. alone is the one member that a signal told to end, or
// nil. While no generation runs, the members cannot agree on a step, and the job ends.
func (s *endingState) stopAll(code int, alone *member) {
	if s.phase == phaseEnded || s.stop.code != 0 || code == exitcode.OK {
		return
	}
	s.stop = stop{code: code, member: alone}
	s.known.Cause, s.known.Stop = nil, code // a failure to reach the step has a cause of its own
	switch s.phase {
	case phaseRunning:
		for _, m := range s.members {
			if m.present() {
				s.emit(SendStop{m.stream, code, s.stop.by()})
			}
		}
	case phaseRegrouping:
		s.fail(&ring.Cause{Rank: -1, Step: -1, Operation: OpJoin, ExitCode: code, Text: "stopped by a signal while the next generation was awaited"})
	}
}
