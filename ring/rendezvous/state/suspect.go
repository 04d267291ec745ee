package state

import (
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// In a ring one dead worker makes all others fail: its neighbours see a closed link and close
// theirs, and so on around the ring. A worker's report about another one is therefore only a
// suspicion. The suspicion waits for better evidence: the end of the suspect's stream, the end of
// its process, or a fault that a worker reports of itself. Without better evidence the root is at
// fault: a suspect that suspects no other.

// suspicionTime is how long a suspicion waits for evidence. Session.Abort waits longer for the
// answer.
const suspicionTime = 500 * time.Millisecond

// suspicion is a cause by which one member blames another.
type suspicion struct {
	by    *member
	cause *ring.Cause
}

// aborted takes in a cause that a member reports.
func (s *State) aborted(e Aborted) {
	if e.Stream == 0 {
		s.fail(e.Cause)
		return
	}
	m := s.byStream[e.Stream]
	if m == nil || s.phase == phaseFinished {
		return
	}
	s.noteStep(m, max(m.step, e.Cause.Step))
	switch {
	case s.suspects(m):
	case m.progress == readyForNext && e.Cause.ExitCode == exitcode.Retry:
		s.gaveUpWaiting(m)
	case !retryable(e.Cause) || s.phase == phaseWaiting:
		s.fail(e.Cause)
	case s.phase == phaseRecovering: // the member does not know yet that the generation has ended
	case e.Cause.Operation == OpJoin: // the member gave up as the last ones joined
		s.lose(m.lossCause("gave up waiting for the others"), m)
	case e.Cause.ExitCode != exitcode.Retry: // a signal ends the member
		s.lose(e.Cause, m)
	case !s.isSuspicion(m, e.Cause):
		s.lose(e.Cause)
	default:
		if len(s.suspicions) == 0 {
			s.judgeAt = s.now + suspicionTime
		}
		s.suspicions = append(s.suspicions, suspicion{m, e.Cause})
	}
}

// isSuspicion reports whether m blames another member for a failed exchange.
func (s *State) isSuspicion(m *member, c *ring.Cause) bool {
	return s.phase == phaseRunning && c.ExitCode == exitcode.Retry && c.Rank != m.Rank && s.member(c.Rank) != nil
}

// suspects reports whether m has blamed another member.
func (s *State) suspects(m *member) bool {
	return slices.ContainsFunc(s.suspicions, func(x suspicion) bool { return x.by == m })
}

// judgeSuspicions ends the generation with the root of the suspicions when their time is over.
func (s *State) judgeSuspicions() {
	if len(s.suspicions) == 0 || s.now < s.judgeAt {
		return
	}
	for _, x := range s.suspicions {
		if suspect := s.member(x.cause.Rank); suspect == nil || !s.suspects(suspect) {
			s.lose(x.cause)
			return
		}
	}
	s.lose(s.suspicions[0].cause) // all suspect each other: the first report counts
}
