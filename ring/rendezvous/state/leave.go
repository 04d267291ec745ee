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
func (s *State) asked(e Leaving) {
	m := s.byID[e.Stream]
	if m == nil || s.phase != running || e.Code == exitcode.OK {
		return
	}
	m.leaving = e.Code
	if m.departure == staying {
		m.departure = leaveRequested
	}
	switch {
	case s.stop != 0:
		if s.stopper != m {
			s.stopper = nil
		}
		s.do(SendStop{m.stream, s.stop, s.stoppedBy()})
	case m.departure == leaveGranted:
		s.do(SendLeaveAlone{m.stream})
	case s.c.Restarts <= s.used:
		s.stopAll(e.Code, m)
	case s.settle == 0:
		s.settle = s.now + leaveTime
	}
}

func (s *State) allLeave() bool {
	return !slices.ContainsFunc(s.here, func(m *member) bool { return m.leaving == 0 })
}

// settleLeaving decides who leaves once the time is over.
func (s *State) settleLeaving() {
	if s.settle == 0 || s.now < s.settle {
		return
	}
	s.settle = 0
	var asking []*member
	for _, m := range s.here {
		if m.departure == leaveRequested {
			asking = append(asking, m)
		}
	}
	if len(asking) == 0 {
		return
	}
	if s.used+len(asking) > s.c.Restarts || s.allLeave() {
		var alone *member
		if len(asking) == 1 {
			alone = asking[0]
		}
		s.stopAll(asking[0].leaving, alone)
		return
	}
	for _, m := range asking {
		m.departure = leaveGranted
		if m.stream != 0 {
			s.do(SendLeaveAlone{m.stream})
		}
	}
}

// stopAll makes all workers stop at one step, since one of them was told to end, or
// nobody alone. Before there are steps, or between two generations, nobody can agree
// on one, and the job ends.
func (s *State) stopAll(code int, alone *member) {
	if s.phase == finished || s.stop != 0 || code == exitcode.OK {
		return
	}
	s.stop, s.stopper, s.settle = code, alone, 0
	s.first = nil // if they do not make it to the step, that is not why
	switch s.phase {
	case running:
		for _, m := range s.here {
			if m.stream != 0 {
				s.do(SendStop{m.stream, code, s.stoppedBy()})
			}
		}
	case recovering:
		s.fail(&ring.Cause{Rank: -1, Step: -1, Operation: OpJoin, ExitCode: code, Text: "stopped by a signal while the next generation was awaited"})
	}
}

// stoppedBy is the rank that alone was told to end, for which all stop; -1: there is none.
func (s *State) stoppedBy() int {
	if s.stopper == nil {
		return -1
	}
	return s.stopper.Rank
}

// parted is a worker that has stopped at the step after which another one leaves.
func (s *State) parted(e Parted) {
	m := s.byID[e.Stream]
	if m == nil || s.phase != running || e.Generation != s.generation {
		return
	}
	switch m.progress {
	case saidLeft:
		m.progress = saidPartedAndLeft
	case inGeneration:
		m.progress = saidParted
	}
	s.advance(m, e.Step)
	s.letGo()
}

// letGo ends the generation of workers that have left it alone, with their work
// done. That they have is the word of the others: if all leave, the job ends.
func (s *State) letGo() {
	if !slices.ContainsFunc(s.here, func(m *member) bool { return m.progress.parted() }) {
		return
	}
	var gone []*member
	for _, m := range s.here {
		if m.progress.left() { // the word of those who parted says why
			gone = append(gone, m)
		}
	}
	if len(gone) == 0 {
		return
	}
	c := gone[0].lost("")
	c.Text = fmt.Sprintf("rank %d (%s %s) left after a signal", gone[0].Rank, gone[0].Worker.Host, gone[0].Worker.Addr)
	for _, m := range gone {
		if m.stream != 0 {
			s.do(SendEnd{m.stream})
			delete(s.byID, m.stream)
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
func (s *State) conclude() {
	if s.generation > 0 && s.now < s.mercy {
		s.farewell = s.mercy
		return
	}
	s.do(Finish{s.cause})
}

// heard takes in that a worker knows the end.
func (s *State) heard(e Heard) {
	if m := s.byID[e.Stream]; m != nil && s.phase == finished {
		s.remove(m, "was here, has heard the end")
	}
}

// bidFarewell ends a job whose workers were awaited for the end, when all have heard
// it or their time is over.
func (s *State) bidFarewell() {
	if s.farewell == 0 {
		return
	}
	if s.now < s.farewell && slices.ContainsFunc(s.here, func(m *member) bool { return !m.connection.gone() }) {
		return
	}
	s.farewell = 0
	s.do(Finish{s.cause})
}
