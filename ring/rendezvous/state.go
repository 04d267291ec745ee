package rendezvous

import (
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// StateConfig is what a State is told beforehand.
type StateConfig struct {
	JobID        string        // "": the first join's, else Drawn
	Drawn        string        // the job id where nobody has one
	WorldSize    int           // 0: the first join's
	StartTimeout time.Duration // from the first join to the last
	Lease        time.Duration // who is silent for so long is lost
	Listed       []string      // configured address of each rank, where known
}

// State is the rendezvous without clock, network or goroutine. All that it
// knows of the world comes in by Step.
type State struct {
	c      StateConfig
	job    string
	size   int
	phase  phase
	first  time.Duration      // when the first join came
	now    time.Duration      // of this step
	ticked time.Duration      // when the last tick came
	awake  time.Duration      // like now, but without our own pauses
	byID   map[uint64]*member // by stream
	here   []*member          // in order of arrival
	away   map[int]absence    // what is known of ranks that are missing
	report time.Duration      // when the next waiting report is due
	probe  time.Duration      // when the next round of probes is due
	odd    bool               // the next report is for rank 0 only
	cause  *ring.Cause        // of the end
	decide time.Duration      // when the suspicions are judged

	suspicions []suspicion // in the order of their coming

	out []Effect // of this step
}

type phase int

const (
	idle     phase = iota // nobody has come
	waiting               // some have
	running               // the membership is complete
	finished              // all were told the end
)

// member is a worker that was admitted.
type member struct {
	Request
	stream uint64
	since  time.Duration // when it joined
	heard  time.Duration // on the clock awake
	step   int64         // last completed, -1 before training
	doing  string        // its phase
	left   bool
}

// absence is what is known of a rank that is not here.
type absence struct {
	since  time.Duration
	reason string
}

// NewState returns the state before anybody has come.
func NewState(c StateConfig) *State {
	return &State{c: c, job: c.JobID, size: c.WorldSize, byID: map[uint64]*member{}, away: map[int]absence{}}
}

// Step takes in what happened at now, which never goes back, and returns what
// is to be done, in order.
func (s *State) Step(now time.Duration, e Event) []Effect {
	s.now, s.out = now, nil
	switch e := e.(type) {
	case Joined:
		s.join(e)
	case Reported:
		s.reported(e)
	case Unproved:
		s.learn(e.Rank, "came with a wrong token")
	case Probed:
		s.learn(e.Rank, e.Reason)
	case Beaten:
		if m := s.byID[e.Stream]; m != nil {
			m.heard, m.step, m.doing = s.awake, e.Step, e.Phase
		}
	case Broken:
		s.broken(e)
	case Left:
		s.leave(e)
	case Aborted:
		s.aborted(e)
	case Exited:
		s.exited(e)
	case Tick:
		s.tick()
	}
	return s.out
}

func (s *State) do(e Effect) { s.out = append(s.out, e) }

// fail ends the job: everybody who is here, and the strangers given, are told
// the cause. Only the first cause counts.
func (s *State) fail(c *ring.Cause, strangers ...uint64) {
	if s.phase == finished {
		return
	}
	s.phase, s.cause = finished, c
	for _, m := range s.here {
		s.do(SendAbort{m.stream, c})
	}
	for _, id := range strangers {
		s.do(SendAbort{id, c})
	}
	s.do(Finish{c})
}

// leave is the barrier at the end: when all have left, all are told so.
func (s *State) leave(e Left) {
	m := s.byID[e.Stream]
	switch {
	case m == nil || s.phase == finished:
		return
	case s.phase == waiting:
		s.remove(m, "was here, left before the start")
		return
	}
	m.left = true
	if slices.ContainsFunc(s.here, func(m *member) bool { return !m.left }) {
		return
	}
	s.phase = finished
	for _, m := range s.here {
		s.do(SendEnd{m.stream})
	}
	s.do(Finish{})
}

// broken is a loss once the job runs. Before that the rank is free again: its
// process may be started anew in time.
func (s *State) broken(e Broken) {
	m := s.byID[e.Stream]
	switch {
	case m == nil || s.suspects(m): // it failed by another's fault and has said so
	case s.phase == running:
		s.fail(m.lost(e.Why))
	default:
		s.remove(m, "was here, "+e.Why)
	}
}

func (s *State) exited(e Exited) {
	c := &ring.Cause{Rank: e.Rank, Step: -1, Text: e.Text, ExitCode: e.Code}
	if c.ExitCode == exitcode.OK {
		c.ExitCode = exitcode.Retry
	}
	if m := s.owner(e.Rank); m != nil {
		c.Host, c.Step = m.Worker.Host, m.step
	}
	s.fail(c)
}

func (s *State) remove(m *member, why string) {
	delete(s.byID, m.stream)
	s.here = slices.DeleteFunc(s.here, func(o *member) bool { return o == m })
	if m.Rank >= 0 {
		s.away[m.Rank] = absence{s.now, why}
	}
}

// mostRanks bounds what is kept of ranks that nobody has vouched for: before
// the first join the world size may be unknown.
const mostRanks = 4096

// learn keeps why a rank is missing, also before anybody has come: the first
// that comes may have the wrong token.
func (s *State) learn(rank int, reason string) {
	if s.phase > waiting || rank < 0 || rank >= mostRanks || s.owner(rank) != nil {
		return
	}
	a, ok := s.away[rank]
	switch {
	case ok:
	case s.phase == waiting:
		a.since = s.first
	default:
		a.since = s.now
	}
	a.reason = reason
	s.away[rank] = a
}

// owner returns the worker of a rank, or nil.
func (s *State) owner(rank int) *member {
	i := slices.IndexFunc(s.here, func(m *member) bool { return m.Rank == rank && rank >= 0 })
	if i < 0 {
		return nil
	}
	return s.here[i]
}

func (m *member) lost(why string) *ring.Cause {
	return &ring.Cause{
		Rank: m.Rank, Host: m.Worker.Host, Step: m.step, Operation: m.doing, Peer: m.Worker.Addr,
		Text:     fmt.Sprintf("lost rank %d (%s %s): %s", m.Rank, m.Worker.Host, m.Worker.Addr, why),
		ExitCode: exitcode.Retry,
	}
}
