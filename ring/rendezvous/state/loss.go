package state

import (
	"fmt"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// lose declares members lost for cause c, which ends the generation. dead says that their processes
// are known to have ended. Without a restart left, or if no restart can help, the loss ends the job.
// If nobody is lost, a connection between two members is at fault, or all have agreed on the end, and
// that costs no restart. A stop of all is then agreed on in the next generation.
func (s *regroupingState) lose(c *ring.Cause, dead bool, gone ...*member) {
	c = s.withLatestStep(c)
	for _, m := range gone {
		s.known.lose(m.Worker.Incarnation, dead)
		m.portClosed = true // if this is the end, it does not wait for m
		if m.Rank >= 0 {
			s.processesOf(m.Rank).charged = true
		}
	}
	switch {
	case !retryable(c) || s.stop.code != 0 && c.Operation != ring.OpKeys:
		s.fail(c)
		return
	case len(gone) > 0 && s.known.used() > s.restarts():
		s.fail(s.restartsExhaustedCause(c))
		return
	}
	if s.known.Cause == nil {
		s.known.Cause = c
	}
	for _, m := range gone {
		s.supersede(m, c.Text, dead)
	}
	if s.phase == phaseRunning {
		s.endGeneration(c)
	} else {
		s.startIfComplete() // the others may have waited for it alone
	}
}

// supersede removes a lost member and refuses its stream, if there is one. The process may still
// run, or wake later, and must not go on.
func (s *regroupingState) supersede(m *member, reason string, dead bool) {
	if m.present() {
		s.refuse(m.stream, &m.Request, exitcode.Retry, fmt.Sprintf("superseded by generation %d: %s", s.known.Fence.Generation+1, reason))
	}
	if !dead {
		s.emit(RankAbandoned{m.Rank})
	}
	s.suspicions.drop(m)
	s.remove(m, reason)
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
func (s *knownState) withLatestStep(c *ring.Cause) *ring.Cause {
	for _, m := range s.members {
		c = WithLaterStep(c, m.step)
	}
	return c
}
