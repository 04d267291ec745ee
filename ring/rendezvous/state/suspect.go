package state

import (
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// In a ring one dead worker makes all others fail: its neighbours meet a closed
// link and close theirs, and so on around. What a worker says of another is
// therefore only a suspicion. It is held for a moment, for better evidence to
// arrive: the end of the suspect's own stream, its process's end seen by the
// launcher, a fault that a worker reports of itself. Failing that, the root is
// blamed: the suspect that suspects nobody.

// suspicionTime is how long a suspicion waits for evidence. Session.Abort waits
// longer for the answer.
const suspicionTime = 500 * time.Millisecond

// suspicion is a cause by which one worker blames another.
type suspicion struct {
	by    *member
	cause *ring.Cause
}

// aborted takes in a cause that a worker reports.
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
	case s.phase == phaseRecovering: // it does not know yet
	case e.Cause.Operation == OpJoin: // it gave up as the last ones came
		s.lose(m.lossCause("gave up waiting for the others"), m)
	case e.Cause.ExitCode != exitcode.Retry: // a signal, which ends it
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

// isHearsay tells whether m blames another worker, which is still here, for an
// exchange that failed.
func (s *State) isSuspicion(m *member, c *ring.Cause) bool {
	return s.phase == phaseRunning && c.ExitCode == exitcode.Retry && c.Rank != m.Rank && s.member(c.Rank) != nil
}

// suspects tells whether m has blamed somebody.
func (s *State) suspects(m *member) bool {
	return slices.ContainsFunc(s.suspicions, func(x suspicion) bool { return x.by == m })
}

// judge ends the generation by the root of the suspicions once their time is over.
// Who is awaited back has not had its say: it may be the one that died, or have met
// the death of another before those who blame it. Its return, or the lease, comes
// first; but not where no generation follows, for then Session.Abort does not wait.
func (s *State) judgeSuspicions() {
	if len(s.suspicions) == 0 || s.now < s.judgeAt || s.config.Restarts > 0 && slices.ContainsFunc(s.members, (*member).awaitedBack) {
		return
	}
	for _, x := range s.suspicions {
		if suspect := s.member(x.cause.Rank); suspect == nil || !s.suspects(suspect) {
			s.lose(x.cause)
			return
		}
	}
	s.lose(s.suspicions[0].cause) // all blame each other: the first word counts
}
