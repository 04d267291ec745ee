package state

import (
	"fmt"
	"slices"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// broken is a loss once the job runs. Before that the rank is free again: its
// process may be started anew in time.
func (s *State) streamBroken(e StreamBroken) {
	m := s.byStream[e.Stream]
	if m == nil {
		return
	}
	delete(s.byStream, e.Stream)
	closing := m.connection == connClosing
	m.disconnect()
	switch {
	case s.phase == phaseFinished && s.endUntil == 0:
		s.remove(m, "was here, "+e.Reason)
	case s.phase == phaseFinished: // it comes back for the end
		m.breakReason = e.Reason
	case s.brokenByPause(closing) && (s.config.Restarts > 0 || !s.suspects(m)):
		s.keepPlace(m, e.Reason, closing)
	case s.suspects(m): // it failed by another's fault and has said so
		m.setLost()
	case s.phase == phaseWaiting:
		s.remove(m, "was here, "+e.Reason)
	default:
		s.lose(s.pauseCause(m.lossCause(e.Reason)), m)
	}
}

// lose takes workers out of the job. If the job runs that ends its generation;
// if no restart is left, or none can help, it ends the job. With nobody gone it
// is what lies between two workers that is at fault, as far as is known, and costs a
// restart too.
func (s *State) lose(c *ring.Cause, gone ...*member) {
	for _, m := range s.members {
		if m.connection.gone() && !slices.Contains(gone, m) {
			gone = append(gone, m)
		}
	}
	c = s.withLatestStep(c)
	s.restartsUsed += s.restartCost(len(gone))
	for _, m := range gone {
		m.setLost() // the end, if this is it, need not wait for it
	}
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
	s.persist(LossRecord{s.generation, ranks, s.restartsUsed, s.generationCause, s.firstCause})
	s.addLost(ranks)
	for _, m := range gone {
		s.supersede(m, c.Text)
	}
	if ending {
		s.endGeneration()
	}
}

// charge notes that the loss of workers has used their restarts: the ends of their
// processes use none.
func (s *State) charge(gone []*member) {
	for _, m := range gone {
		if m.Rank >= 0 {
			s.processesOf(m.Rank).charged = true
		}
	}
}

// addLost adds to the ranks that the generation has lost. One may be lost again
// while the next is awaited: its successor was.
func (s *State) addLost(ranks []int) {
	for _, rank := range ranks {
		if !slices.Contains(s.lostRanks, rank) {
			s.lostRanks = append(s.lostRanks, rank)
		}
	}
	slices.Sort(s.lostRanks)
}

// supersede takes a worker out and tells it, if it can be told: it may live, or
// wake later, and must not go on.
func (s *State) supersede(m *member, why string) {
	if m.stream != 0 {
		s.refuse(m.stream, &m.Request, exitcode.Retry, fmt.Sprintf("superseded by generation %d: %s", s.generation+1, why))
		if m.connection != connExited {
			s.emit(RankAbandoned{m.Rank})
		}
	}
	s.remove(m, why)
}

// price is how many restarts a loss takes. A generation that ended with nobody gone
// has used one: whoever is lost then, before the next, is what the others have met,
// also where they have blamed one that lives.
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

// What is known of a worker's step is as old as its last heartbeat. When a worker is
// lost the job is as far as any other one says that it has come: the rendezvous takes
// the latest that it hears of, and each worker that is told of the loss its own.

// WithLaterStep is c with step, if a loss is told with an earlier one. Other causes say of
// themselves when they happened, or come before there are steps.
func WithLaterStep(c *ring.Cause, step int64) *ring.Cause {
	if c == nil || c.ExitCode != exitcode.Retry || c.Operation == OpJoin || step <= c.Step {
		return c
	}
	later := *c
	later.Step = step
	return &later
}

// reached is c with the step that the job has come to, as far as was heard.
func (s *State) withLatestStep(c *ring.Cause) *ring.Cause {
	for _, m := range s.members {
		c = WithLaterStep(c, m.step)
	}
	return c
}
