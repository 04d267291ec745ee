package state

import (
	"fmt"
	"slices"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// streamBroken takes in the end of a member's stream. In a running job this is a loss. Before the
// start the rank is free again: its process may be started anew.
func (s *State) streamBroken(e StreamBroken) {
	m := s.byStream[e.Stream]
	if m == nil {
		return
	}
	delete(s.byStream, e.Stream)
	m.stream = 0
	switch {
	case s.phase == phaseFinished:
		s.remove(m, "was here, "+e.Reason)
	case s.suspects(m): // the member failed because of another member and has said so
		m.stopAwaiting()
	case s.phase == phaseWaiting:
		s.remove(m, "was here, "+e.Reason)
	default:
		s.lose(s.pauseCause(m.lossCause(e.Reason)), m)
	}
}

// lose declares the gone members lost and ends the generation for cause c. Gone members are those
// given and those whose connection is gone. Without a restart left, or if no restart can help, it
// ends the job. If no member is gone, the connection between two members is at fault, and the end of
// the generation costs a restart too.
func (s *State) lose(c *ring.Cause, gone ...*member) {
	for _, m := range s.members {
		if m.connection.gone() && !slices.Contains(gone, m) {
			gone = append(gone, m)
		}
	}
	c = s.withLatestStep(c)
	s.restartsUsed += s.restartCost(len(gone))
	switch {
	case !retryable(c) || s.stopCode != 0:
		s.fail(c)
		return
	case s.restartsUsed > s.config.Restarts:
		s.fail(s.restartsExhaustedCause(c))
		return
	}
	s.charge(gone)
	if s.firstCause == nil {
		s.firstCause = c
	}
	ending := s.phase == phaseRunning
	if ending {
		s.lostRanks, s.generationCause = nil, c
	}
	var ranks []int
	for _, m := range gone {
		if m.Rank >= 0 {
			ranks = append(ranks, m.Rank)
		}
	}
	s.addLost(ranks)
	for _, m := range gone {
		s.supersede(m, c.Text)
	}
	if ending {
		s.endGeneration()
	}
}

// charge notes that the loss of members has used their restarts. The ends of their processes then
// use none.
func (s *State) charge(gone []*member) {
	for _, m := range gone {
		if m.Rank >= 0 {
			s.processesOf(m.Rank).charged = true
		}
	}
}

// addLost adds to the lost ranks of the generation. A rank may be lost again while the next
// generation is awaited: its successor was lost.
func (s *State) addLost(ranks []int) {
	for _, rank := range ranks {
		if !slices.Contains(s.lostRanks, rank) {
			s.lostRanks = append(s.lostRanks, rank)
		}
	}
	slices.Sort(s.lostRanks)
}

// supersede removes a member and refuses its stream, if there is one. The process may still run, or
// wake later, and must not go on.
func (s *State) supersede(m *member, reason string) {
	if m.stream != 0 {
		s.refuse(m.stream, &m.Request, exitcode.Retry, fmt.Sprintf("superseded by generation %d: %s", s.generation+1, reason))
		if m.connection != connExited {
			s.emit(RankAbandoned{m.Rank})
		}
	}
	s.remove(m, reason)
}

// restartCost returns how many restarts the loss of gone members uses. A generation that ended with
// no lost member has used one restart already. The next loss is its likely reason, so that loss
// costs one less.
func (s *State) restartCost(gone int) int {
	switch {
	case s.phase == phaseRunning:
		s.restartPrepaid = gone == 0
		return max(1, gone)
	case s.restartPrepaid && gone > 0:
		s.restartPrepaid = false
		return gone - 1
	}
	return gone
}

// The step of a worker is known as of its last heartbeat. The step of a loss is the latest one that
// any member reports: the rendezvous takes the latest step it hears of, and each member that hears
// of the loss takes its own.

// WithLaterStep returns c with the given step if c is a loss with an earlier step. Other causes
// keep their step.
func WithLaterStep(c *ring.Cause, step int64) *ring.Cause {
	if c == nil || c.ExitCode != exitcode.Retry || c.Operation == OpJoin || step <= c.Step {
		return c
	}
	later := *c
	later.Step = step
	return &later
}

// withLatestStep returns c with the latest step that any member has reported.
func (s *State) withLatestStep(c *ring.Cause) *ring.Cause {
	for _, m := range s.members {
		c = WithLaterStep(c, m.step)
	}
	return c
}
