package state

import (
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// endGeneration sends the living out of their groups. The next generation
// begins when all of them are ready and the lost ones are back.
func (s *State) endGeneration() {
	s.phase, s.began = recovering, s.now
	s.endedAt = max(s.awake, s.endedAt) // after a restart it is later than now: the living are to come back first
	s.report, s.probe, s.odd = s.now+FirstReport, s.now+firstProbe, false
	s.suspicions, s.settle = nil, 0
	for _, m := range s.here {
		m.progress = inGeneration
		if m.stream != 0 {
			s.do(SendEndGeneration{m.stream, s.generation, s.lost, s.why})
		}
	}
}

// begins takes in with which step a generation begins in which nobody had a state, or
// how far it is by the first word after a restart of the rendezvous. A step that was
// restored from a checkpoint is none that the generation has completed.
func (s *State) begins(e Beaten) {
	if s.fresh && e.Step >= 0 && e.Phase != "" && e.Phase != "restore" {
		s.base, s.fresh = max(s.base, e.Step), false
	}
}

// advance takes in how far a worker is.
func (s *State) advance(m *member, step int64) {
	m.step = step
	if s.fruitful || step <= s.base || s.generation == 0 {
		return
	}
	s.fruitful = true
	switch s.phase {
	case running:
		s.first = nil
	case recovering:
		s.first = s.why // what ended the generations before this one is overcome
	}
}

func (s *State) readied(e Readied) {
	m := s.byID[e.Stream]
	if m == nil || s.phase != recovering || e.Generation != s.generation {
		return
	}
	m.progress, m.heard = readyForNext, s.awake
	s.advance(m, e.Step)
	why := s.reached(s.why)
	if s.first == s.why {
		s.first = why
	}
	s.why = why
	s.gather()
}

// gather begins the next generation if all are here. When those who live have left the
// last one they have said how far it came: if it was one too many of a loop, the lost
// are not awaited.
func (s *State) gather() {
	switch {
	case slices.ContainsFunc(s.here, func(m *member) bool { return m.progress != readyForNext }):
	case s.phase == recovering && s.countBarren() >= CrashLoopLimit:
		s.fail(s.fruitless())
	case len(s.here) == s.size:
		s.complete()
	}
}

// complete gives out the ranks that nobody asked for and starts a generation, unless the
// workers have nothing in common of what they offer.
func (s *State) complete() {
	place(s.here)
	if c := s.choose(); c != nil {
		s.fail(c)
		return
	}
	s.setBarren(s.countBarren())
	s.keepJob()
	s.phase, s.fruitful, s.base, s.fresh = running, false, 0, true
	s.generation++
	var workers []ring.Worker
	for _, m := range s.here {
		m.Worker.Rank = m.Rank
		workers = append(workers, m.Worker)
		s.base, s.fresh = max(s.base, m.step), s.fresh && m.step < 0
		m.heard, m.warn, m.progress, m.leaving = s.awake, 0, inGeneration, 0
		if m.departure == leaveRequested {
			m.departure = staying
		}
		m.wait, m.still = ring.Wait{Peer: -1}, s.awake
		s.trial(m.Rank).met = true
	}
	slices.SortFunc(workers, func(a, b ring.Worker) int { return a.Rank - b.Rank })
	s.keep(GenerationRecord{s.generation, workers, s.barren, s.choices})
	for _, m := range s.here {
		s.sendMembership(m, workers)
	}
}

func (s *State) sendMembership(m *member, workers []ring.Worker) {
	is := ring.Membership{JobID: s.job, Generation: s.generation, Rank: m.Rank, Workers: workers, Choices: s.choices}
	s.do(SendMembership{m.stream, is, s.lost, s.why})
}

// unreturned is the cause when lost ranks do not come back in time.
func (s *State) unreturned(after time.Duration) *ring.Cause {
	c := &ring.Cause{Rank: -1, Step: -1, Operation: OpJoin, ExitCode: exitcode.Retry}
	if s.first != nil {
		c.Step = s.first.Step
	}
	list := s.missing(maxMissingText)
	names := nameMissing(list, s.size-len(s.here))
	who := "ranks " + names
	if len(list) == 1 {
		c.Rank, c.Peer = list[0].Rank, list[0].Address
		who = fmt.Sprintf("rank %d", c.Rank)
	}
	c.Text = fmt.Sprintf("%s did not return in %d s", who, int64(after.Seconds()))
	if s.first != nil {
		c.Text += ": " + s.first.Text
		s.first = nil
	}
	return c
}
