package state

import (
	"fmt"
	"slices"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// resume takes back a member whose connection was lost.
func (s *State) resume(e Resumed) {
	j := &e.Request
	m := s.member(j.Rank)
	known := m != nil && m.Worker.Incarnation == j.Worker.Incarnation
	switch {
	case j.JobID != "" && j.JobID != s.jobID, e.Generation > s.generation, s.generation == 0:
		s.refuse(e.Stream, j, exitcode.Retry, fmt.Sprintf("the rendezvous knows of no generation %d of job %s", e.Generation, j.JobID))
	case s.phase == phaseFinished && s.cause != nil:
		if known {
			s.connect(m, e.Stream)
		}
		s.emit(SendAbort{e.Stream, s.cause})
	case !known:
		s.refuse(e.Stream, j, exitcode.Retry, fmt.Sprintf("superseded by generation %d", s.currentOrNext()))
	default:
		s.reattach(m, e)
	}
}

// currentOrNext returns the number of the running generation, or of the one to come.
func (s *State) currentOrNext() uint64 {
	if s.phase == phaseRecovering {
		return s.generation + 1
	}
	return s.generation
}

// reattach gives a member its new stream and sends what the member has missed.
func (s *State) reattach(m *member, e Resumed) {
	if e.Stream < m.stream { // an earlier attempt that arrives late
		s.refuseStream(e.Stream, &e.Request, "came again on another stream")
		return
	}
	if m.stream != 0 && s.phase != phaseFinished { // otherwise that stream carries its last message
		s.refuseStream(m.stream, &m.Request, "came again on another stream")
	}
	s.connect(m, e.Stream)
	m.Offers = e.Request.Offers
	s.emit(SendResumed{m.stream})
	switch s.phase {
	case phaseRunning:
		if e.Generation < s.generation {
			s.sendMembership(m, s.workers())
		}
		if s.stopCode != 0 {
			s.emit(SendStop{m.stream, s.stopCode, s.stoppedBy()})
		}
	case phaseRecovering:
		if e.Generation < s.generation { // the member has left its group and knows nothing of the generation that ended meanwhile
			m.progress = readyForNext
			s.startIfComplete()
		} else if m.progress != readyForNext {
			s.emit(SendEndGeneration{m.stream, s.generation, s.lostRanks, s.generationCause})
		}
	case phaseFinished:
		s.emit(SendEnd{m.stream})
	}
}

// connect gives a member a new stream in place of its old one.
func (s *State) connect(m *member, stream uint64) {
	delete(s.byStream, m.stream)
	m.stream, m.connection, m.lastHeard, m.nextSilenceNotice = stream, connOpen, s.awake, 0
	m.unchangedSince = s.awake // the next heartbeat reports its operation
	s.byStream[stream] = m
}

// workers returns the workers of the generation, by rank.
func (s *State) workers() []ring.Worker {
	workers := make([]ring.Worker, 0, len(s.members))
	for _, m := range s.members {
		workers = append(workers, m.Worker)
	}
	slices.SortFunc(workers, func(a, b ring.Worker) int { return a.Rank - b.Rank })
	return workers
}
