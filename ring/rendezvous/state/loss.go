package state

import (
	"fmt"
	"slices"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// broken is a loss once the job runs. Before that the rank is free again: its
// process may be started anew in time.
func (s *State) broken(e Broken) {
	m := s.byID[e.Stream]
	if m == nil {
		return
	}
	delete(s.byID, e.Stream)
	closing := m.connection == connClosing
	m.disconnect()
	switch {
	case s.phase == finished && s.farewell == 0:
		s.remove(m, "was here, "+e.Why)
	case s.phase == finished: // it comes back for the end
		m.broke = e.Why
	case s.merciful(closing) && (s.c.Restarts > 0 || !s.suspects(m)):
		s.await(m, e.Why, closing)
	case s.suspects(m): // it failed by another's fault and has said so
		m.setLost()
	case s.phase == waiting:
		s.remove(m, "was here, "+e.Why)
	default:
		s.lose(s.ours(m.lost(e.Why)), m)
	}
}

// lose takes workers out of the job. If the job runs that ends its generation;
// if no restart is left, or none can help, it ends the job. With nobody gone it
// is what lies between two workers that is at fault, as far as is known, and costs a
// restart too.
func (s *State) lose(c *ring.Cause, gone ...*member) {
	for _, m := range s.here {
		if m.connection.gone() && !slices.Contains(gone, m) {
			gone = append(gone, m)
		}
	}
	c = s.reached(c)
	s.used += s.price(len(gone))
	for _, m := range gone {
		m.setLost() // the end, if this is it, need not wait for it
	}
	switch {
	case !retryable(c) || s.stop != 0:
		s.fail(c)
		return
	case s.used > s.c.Restarts:
		s.fail(s.exhausted(c))
		return
	}
	s.charge(gone)
	if s.first == nil {
		s.first = c
	}
	ending := s.phase == running
	if ending {
		s.lost, s.why = nil, c
	}
	var ranks []int
	for _, m := range gone {
		if m.Rank >= 0 {
			ranks = append(ranks, m.Rank)
		}
	}
	s.keep(LossRecord{s.generation, ranks, s.used, s.why, s.first})
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
			s.trial(m.Rank).charged = true
		}
	}
}

// addLost adds to the ranks that the generation has lost. One may be lost again
// while the next is awaited: its successor was.
func (s *State) addLost(ranks []int) {
	for _, rank := range ranks {
		if !slices.Contains(s.lost, rank) {
			s.lost = append(s.lost, rank)
		}
	}
	slices.Sort(s.lost)
}

// supersede takes a worker out and tells it, if it can be told: it may live, or
// wake later, and must not go on.
func (s *State) supersede(m *member, why string) {
	if m.stream != 0 {
		s.refuse(m.stream, &m.Request, exitcode.Retry, fmt.Sprintf("superseded by generation %d: %s", s.generation+1, why))
		if m.connection != connExited {
			s.do(GiveUp{m.Rank})
		}
	}
	s.remove(m, why)
}

// price is how many restarts a loss takes. A generation that ended with nobody gone
// has used one: whoever is lost then, before the next, is what the others have met,
// also where they have blamed one that lives.
func (s *State) price(gone int) int {
	switch {
	case s.phase == running:
		s.prepaid = gone == 0
		return max(1, gone)
	case s.prepaid && gone > 0:
		s.prepaid = false
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
func (s *State) reached(c *ring.Cause) *ring.Cause {
	for _, m := range s.here {
		c = WithLaterStep(c, m.step)
	}
	return c
}
