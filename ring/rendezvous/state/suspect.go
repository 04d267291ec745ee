package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// In a ring one dead worker makes all others fail: its neighbours see a closed link and close
// theirs, and so on around the ring. A worker's report about another one is therefore only a
// suspicion. The suspicion waits for better evidence: the end of a process, or a fault that a worker
// reports of itself. Without better evidence nobody is lost, and the root is at fault: a suspect
// that suspects no other.

// suspicionTime is how long a suspicion waits for evidence at least.
const suspicionTime = 100 * time.Millisecond

// suspicions are the suspicions of the running generation.
type suspicions struct {
	list    []suspicion // in order of arrival
	judgeAt time.Duration
}

// suspicion is a cause by which one member blames another, or a connection.
type suspicion struct {
	by    *member
	cause *ring.Cause
}

// of reports whether m has blamed another member.
func (su *suspicions) of(m *member) bool {
	return slices.ContainsFunc(su.list, func(s suspicion) bool { return s.by == m })
}

// drop drops the suspicions of m.
func (su *suspicions) drop(m *member) {
	su.list = slices.DeleteFunc(su.list, func(s suspicion) bool { return s.by == m })
}

// aborted takes in a cause that a member reports.
func (s *regroupingState) aborted(e Aborted) {
	if e.Stream == 0 {
		s.fail(e.Cause)
		return
	}
	m := s.byStream[e.Stream]
	if m == nil || s.phase == phaseEnded {
		return
	}
	s.noteStep(m, max(m.step, e.Cause.Step))
	switch {
	case m.place == ready && e.Cause.ExitCode == exitcode.Retry:
		s.gaveUpWaiting(m)
	case !retryable(e.Cause) || s.phase == phaseForming:
		s.fail(e.Cause)
	case e.Cause.ExitCode != exitcode.Retry: // a signal ends the member
		s.lose(e.Cause, true, m)
	case s.phase == phaseRunning && e.Cause.Operation == ring.OpKeys: // all members end this generation
		s.lose(e.Cause, false)
	case s.phase == phaseRegrouping, s.suspicions.of(m): // the member does not know yet that the generation has ended
	case e.Cause.Operation == OpJoin: // the member gave up as the last ones joined
		s.lose(m.lossCause("gave up waiting for the others"), true, m)
	default:
		s.suspect(m, e.Cause)
	}
}

// suspect takes in that an exchange of m has failed.
func (s *regroupingState) suspect(m *member, c *ring.Cause) {
	s.suspicions.list = append(s.suspicions.list, suspicion{m, c})
	if len(s.suspicions.list) == 1 {
		s.judgeLater()
	}
	if o := s.member(c.Rank); o != nil && o != m {
		s.probeMember(o)
	}
}

// judgeLater lets the suspicions wait anew: a member has come that may know the root.
func (s *regroupingState) judgeLater() {
	s.suspicions.judgeAt = max(s.suspicions.judgeAt, s.clock.now+suspicionTime)
}

// judgeSuspicions ends the generation with the root of the suspicions when their time is over. It
// waits for members that are away: one of them may have ended, or know the root.
func (s *regroupingState) judgeSuspicions() {
	if len(s.suspicions.list) == 0 || s.clock.now < s.suspicions.judgeAt || slices.ContainsFunc(s.members, func(m *member) bool { return m.place == away }) {
		return
	}
	x := s.root()
	if s.neverOpened() {
		s.fail(x.cause)
		return
	}
	s.noteFreeEnd(x.cause)
	s.lose(s.linkCause(x), false)
}

// root returns the cause at the root of the suspicions: of a member that blames itself or nobody,
// or of a suspect that suspects nobody. If all suspect each other, the first report counts.
func (s *regroupingState) root() suspicion {
	for _, x := range s.suspicions.list {
		if o := s.member(x.cause.Rank); o == nil || o == x.by {
			return x
		}
	}
	for _, x := range s.suspicions.list {
		if !s.suspicions.of(s.member(x.cause.Rank)) {
			return x
		}
	}
	return s.suspicions.list[0]
}

// linkCause returns the cause of a generation's end that a broken link between two living members
// has brought about. It names the link, in the direction of the data as far as the ranks tell it.
func (s *regroupingState) linkCause(x suspicion) *ring.Cause {
	from, to := x.by.Rank, x.cause.Rank
	if s.member(to) == nil || from == to {
		return x.cause
	}
	s.run.link = []int{min(from, to), max(from, to)}
	if (to+1)%s.worldSize == from && (from+1)%s.worldSize != to {
		from, to = to, from
	}
	c := *x.cause
	c.Rank, c.Host = -1, "" // nobody is at fault
	if at := strings.LastIndex(c.Text, "("+c.Peer+"): "); at >= 0 && c.Peer != "" {
		c.Text = c.Text[at+len("("+c.Peer+"): "):]
	}
	if !strings.HasPrefix(c.Text, "link ") {
		c.Text = fmt.Sprintf("link %d -> %d: %s", from, to, c.Text)
	}
	return &c
}

// neverOpened reports whether the links, or the memory of a host, do not open at the start: another
// start of the same workers would find the same network. A report can come before the heartbeat that
// says that the generation is whole, but a step in it says so, too.
func (s *regroupingState) neverOpened() bool {
	return s.known.Fence.Generation == 1 && s.known.Whole.Incarnations == nil && !s.run.stepCompleted
}
