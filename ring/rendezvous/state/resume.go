package state

import (
	"fmt"
	"slices"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// resume takes back a worker that has outlived the rendezvous, or whose
// connection broke without our seeing it.
func (s *State) resume(e Resumed) {
	j := &e.Request
	m := s.owner(j.Rank)
	known := m != nil && m.Worker.Incarnation == j.Worker.Incarnation
	switch {
	case j.JobID != "" && j.JobID != s.job, s.generation == 0:
		s.refuse(e.Stream, j, exitcode.Retry, fmt.Sprintf("the rendezvous knows of no generation %d of job %s", e.Generation, j.JobID))
	case e.Generation > s.generation:
		s.refuse(e.Stream, j, exitcode.Retry, fmt.Sprintf("the rendezvous knows generations up to %d, this worker is of %d: its journal is not the newest", s.generation, e.Generation))
	case s.phase == finished && s.cause != nil:
		if known {
			s.connect(m, e.Stream)
		}
		s.do(SendAbort{e.Stream, s.cause})
	case !known:
		s.refuse(e.Stream, j, exitcode.Retry, fmt.Sprintf("superseded by generation %d", s.next()))
	default:
		s.attach(m, e)
	}
}

// next is the generation that is there or to come.
func (s *State) next() uint64 {
	if s.phase == recovering {
		return s.generation + 1
	}
	return s.generation
}

// attach gives a member its new stream, and says what it has missed.
func (s *State) attach(m *member, e Resumed) {
	if e.Stream < m.stream { // an earlier try, that arrives late
		s.moved(e.Stream, &e.Request, "came again on another stream")
		return
	}
	if m.stream != 0 && s.phase != finished { // then that one has had its last letter
		s.moved(m.stream, &m.Request, "came again on another stream")
	}
	if m.absent() {
		s.decide = max(s.decide, s.now+suspicionTime) // for what it says of others
	}
	s.connect(m, e.Stream)
	m.Offers = e.Request.Offers
	s.do(SendResumed{m.stream})
	switch s.phase {
	case running:
		if e.Generation < s.generation {
			s.sendMembership(m, s.workers())
		}
		if s.stop != 0 {
			s.do(SendStop{m.stream, s.stop, s.stoppedBy()})
		}
	case recovering:
		if e.Generation < s.generation { // it has left its group, and never heard of the one that has ended meanwhile
			m.progress = readyForNext
			s.gather()
		} else if m.progress != readyForNext {
			s.do(SendEndGeneration{m.stream, s.generation, s.lost, s.why})
		}
	case finished:
		s.do(SendEnd{m.stream})
	}
}

// connect gives a member a new stream, in place of the one that it had.
func (s *State) connect(m *member, stream uint64) {
	delete(s.byID, m.stream)
	m.stream, m.connection, m.heard, m.warn, m.broke = stream, connOpen, s.awake, 0, ""
	m.still = s.awake // its next heartbeat says what it waits for
	s.byID[stream] = m
}

// workers are those of the generation, by rank.
func (s *State) workers() []ring.Worker {
	workers := make([]ring.Worker, 0, len(s.here))
	for _, m := range s.here {
		workers = append(workers, m.Worker)
	}
	slices.SortFunc(workers, func(a, b ring.Worker) int { return a.Rank - b.Rank })
	return workers
}
