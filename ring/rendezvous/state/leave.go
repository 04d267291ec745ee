package state

import (
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// A signal to one worker may mean that this worker alone is to leave. It may also be the first of
// many signals: a scheduler that ends a job signals all ranks. So the first request to leave waits
// for others for leaveTime. The whole job stops at one agreed step if all members have asked by
// then. The job stops at once if the launcher says so or if no restart is left. Otherwise each
// member that asked leaves alone, at a step of its own.
//
// The decision does not come earlier if all have asked: they may be on one host whose launcher
// agent is gone. During leaveTime the launcher then reports them as lost, and they are replaced.

// leaveTime is how long the first request to leave waits for others.
const leaveTime = 500 * time.Millisecond

// leaveRequested takes in a member's request to leave.
func (s *State) leaveRequested(e LeaveRequested) {
	m := s.byStream[e.Stream]
	if m == nil || s.phase != phaseRunning || e.Code == exitcode.OK {
		return
	}
	m.leaveCode = e.Code
	if m.departure == staying {
		m.departure = leaveAsked
	}
	switch {
	case s.stopCode != 0:
		if s.stopMember != m {
			s.stopMember = nil
		}
		s.emit(SendStop{m.stream, s.stopCode, s.stoppedBy()})
	case m.departure == leaveGranted:
		s.emit(SendLeaveAlone{m.stream})
	case s.config.Restarts <= s.restartsUsed:
		s.stopAll(e.Code, m)
	case s.decideLeaveAt == 0:
		s.decideLeaveAt = s.now + leaveTime
	}
}

func (s *State) allRequestedLeave() bool {
	return !slices.ContainsFunc(s.members, func(m *member) bool { return m.leaveCode == 0 })
}

// decideLeaving decides the requests to leave when leaveTime is over.
func (s *State) decideLeaving() {
	if s.decideLeaveAt == 0 || s.now < s.decideLeaveAt {
		return
	}
	s.decideLeaveAt = 0
	var asking []*member
	for _, m := range s.members {
		if m.departure == leaveAsked {
			asking = append(asking, m)
		}
	}
	if len(asking) == 0 {
		return
	}
	if s.restartsUsed+len(asking) > s.config.Restarts || s.allRequestedLeave() {
		var alone *member
		if len(asking) == 1 {
			alone = asking[0]
		}
		s.stopAll(asking[0].leaveCode, alone)
		return
	}
	for _, m := range asking {
		m.departure = leaveGranted
		if m.stream != 0 {
			s.emit(SendLeaveAlone{m.stream})
		}
	}
}

// stopAll makes all members stop at one step. alone is the one member that a signal told to end, or
// nil. While no generation runs, the members cannot agree on a step, and the job ends.
func (s *State) stopAll(code int, alone *member) {
	if s.phase == phaseFinished || s.stopCode != 0 || code == exitcode.OK {
		return
	}
	s.stopCode, s.stopMember, s.decideLeaveAt = code, alone, 0
	s.firstCause = nil // a failure to reach the step has a cause of its own
	switch s.phase {
	case phaseRunning:
		for _, m := range s.members {
			if m.stream != 0 {
				s.emit(SendStop{m.stream, code, s.stoppedBy()})
			}
		}
	case phaseRecovering:
		s.fail(&ring.Cause{Rank: -1, Step: -1, Operation: OpJoin, ExitCode: code, Text: "stopped by a signal while the next generation was awaited"})
	}
}

// stoppedBy returns the one rank that a signal told to end, or -1.
func (s *State) stoppedBy() int {
	if s.stopMember == nil {
		return -1
	}
	return s.stopMember.Rank
}

// parted takes in that a member has stopped at the step after which another member leaves.
func (s *State) parted(e Parted) {
	m := s.byStream[e.Stream]
	if m == nil || s.phase != phaseRunning || e.Generation != s.generation {
		return
	}
	m.progress = m.progress.withParted()
	s.noteStep(m, e.Step)
	s.completeDeparture()
}

// completeDeparture ends the generation when a member has left and another has said that it parted.
// If all members leave, the job ends instead.
func (s *State) completeDeparture() {
	if !slices.ContainsFunc(s.members, func(m *member) bool { return m.progress.parted() }) {
		return
	}
	var gone []*member
	for _, m := range s.members {
		if m.progress.left() { // the members that parted say why
			gone = append(gone, m)
		}
	}
	if len(gone) == 0 {
		return
	}
	c := gone[0].lossCause("")
	c.Text = fmt.Sprintf("rank %d (%s %s) left after a signal", gone[0].Rank, gone[0].Worker.Host, gone[0].Worker.Addr)
	for _, m := range gone {
		if m.stream != 0 {
			s.emit(SendEnd{m.stream})
			delete(s.byStream, m.stream)
			m.stream = 0
		}
	}
	s.lose(c, gone...)
}
