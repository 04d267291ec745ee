package state

import (
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// A signal to one worker may mean that it alone is to go, or be the first of
// many: a scheduler that ends the job sends it to all. Who asks to leave is
// therefore held for a moment. If then all ask, or at once if the launcher has said
// so or nobody could be replaced, the whole job stops at one agreed step, with its
// state saved. Otherwise those who asked leave at a step of their own.
//
// That all ask is no reason to be quicker: they may be on one host whose agent is
// gone, and be told to end by its guard. In that moment the launcher says that they
// are lost, and they are replaced.

// leaveTime is how long the first wish to leave waits for others.
const leaveTime = 500 * time.Millisecond

// asked takes in a worker's wish to leave.
func (s *State) leaveRequested(e LeaveRequested) {
	m := s.byStream[e.Stream]
	if m == nil || s.phase != phaseRunning || e.Code == exitcode.OK {
		return
	}
	m.leaveCode = e.Code
	if m.departure == staying {
		m.departure = leaveRequested
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

// settleLeaving decides who leaves once the time is over.
func (s *State) decideLeaving() {
	if s.decideLeaveAt == 0 || s.now < s.decideLeaveAt {
		return
	}
	s.decideLeaveAt = 0
	var asking []*member
	for _, m := range s.members {
		if m.departure == leaveRequested {
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

// stopAll makes all workers stop at one step, since one of them was told to end, or
// nobody alone. Before there are steps, or between two generations, nobody can agree
// on one, and the job ends.
func (s *State) stopAll(code int, alone *member) {
	if s.phase == phaseFinished || s.stopCode != 0 || code == exitcode.OK {
		return
	}
	s.stopCode, s.stopMember, s.decideLeaveAt = code, alone, 0
	s.firstCause = nil // if they do not make it to the step, that is not why
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

// stoppedBy is the rank that alone was told to end, for which all stop; -1: there is none.
func (s *State) stoppedBy() int {
	if s.stopMember == nil {
		return -1
	}
	return s.stopMember.Rank
}

// parted is a worker that has stopped at the step after which another one leaves.
func (s *State) parted(e Parted) {
	m := s.byStream[e.Stream]
	if m == nil || s.phase != phaseRunning || e.Generation != s.generation {
		return
	}
	switch m.progress {
	case saidLeft:
		m.progress = saidPartedAndLeft
	case inGeneration:
		m.progress = saidParted
	}
	s.noteStep(m, e.Step)
	s.completeDeparture()
}

// letGo ends the generation of workers that have left it alone, with their work
// done. That they have is the word of the others: if all leave, the job ends.
func (s *State) completeDeparture() {
	if !slices.ContainsFunc(s.members, func(m *member) bool { return m.progress.parted() }) {
		return
	}
	var gone []*member
	for _, m := range s.members {
		if m.progress.left() { // the word of those who parted says why
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
			m.disconnect()
		}
	}
	s.lose(c, gone...)
}

// The end of a job is told to all workers on their streams. Streams may just then be
// broken, without our having seen it: the rendezvous stood still, or was killed after
// it had decided the end. Workers of a rendezvous with a journal come back for the
// end, so it stays for them.

// conclude tells the owner of the end. Just after a pause of ours the workers come
// first: some have given up the streams on which they were told.
func (s *State) announceEnd() {
	if s.generation > 0 && s.now < s.graceUntil {
		s.endUntil = s.graceUntil
		return
	}
	s.emit(Finish{s.cause})
}

// heard takes in that a worker knows the end.
func (s *State) endConfirmed(e EndConfirmed) {
	if m := s.byStream[e.Stream]; m != nil && s.phase == phaseFinished {
		s.remove(m, "was here, has heard the end")
	}
}

// bidFarewell ends a job whose workers were awaited for the end, when all have heard
// it or their time is over.
func (s *State) finishWhenConfirmed() {
	if s.endUntil == 0 {
		return
	}
	if s.now < s.endUntil && slices.ContainsFunc(s.members, func(m *member) bool { return !m.connection.gone() }) {
		return
	}
	s.endUntil = 0
	s.emit(Finish{s.cause})
}
