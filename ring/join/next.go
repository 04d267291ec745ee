package join

import (
	"context"

	"ringtrain/ring"
)

// Next goes over to the next generation after Run or Leave has failed. It tells c,
// which ended this worker's part, and is nil where the generation's context has
// ended or another worker has departed. Then it closes the group and its links,
// keeps the port and the session, and waits until all ranks are there: those that
// live, and the lost ones' successors. It returns the team of the next generation,
// which owns everything; t must not be used any more.
//
// If the job is over, for no restart is left or none can help, the error holds the
// job's first cause and has its exit code. Then t has to be closed.
//
// A next generation that fails before its links are open is left for the one after
// it, as long as the rendezvous has restarts.
func (t *Team) Next(ctx context.Context, c *ring.Cause) (*Team, error) {
	if t.member == nil {
		return nil, causeError(t.Abort(causeOr(t.Context(), c)))
	}
	for at := t; ; {
		err := at.member.Outcome(ctx, c)
		at.closeGroup() // not before: the others would take its end for the fault
		if err != nil {
			return nil, err
		}
		if err := at.member.Next(ctx); err != nil {
			return nil, err
		}
		m := at.member.Membership()
		next := newTeam(&Team{Rendezvous: t.Rendezvous, config: t.config, member: t.member, session: t.session, endpoint: t.endpoint})
		if err = next.open(ctx, m, t.config); err == nil {
			t.superseded.Store(true)
			return next, nil
		}
		c, at = next.causeOf(ctx, m, err), next
	}
}

// orEnd is c, or the cause of the end of ctx.
func causeOr(ctx context.Context, c *ring.Cause) *ring.Cause {
	if c != nil {
		return c
	}
	return ring.CauseOf(context.Cause(ctx), 0, "", -1)
}

// Recovers tells whether there can be a generation after this one.
func (t *Team) Recovers() bool { return t.member != nil && t.member.Recovers() }

// RequestLeave says that a signal has told this worker to end, with code. The answer
// is seen by Stopping and Departing. Only the first call counts.
func (t *Team) RequestLeave(code int) {
	if t.member == nil {
		t.stopCode.CompareAndSwap(0, int32(code))
		return
	}
	t.member.RequestLeave(code)
}

// Stopping is the exit code that all workers are to stop with at one step, 0 for
// none. It never blocks.
func (t *Team) Stopping() int {
	if t.member == nil {
		return int(t.stopCode.Load())
	}
	return t.member.Stopping()
}

// StoppedBy is the rank that alone was told to end by a signal, where all stop for
// it; -1 if it was not one alone, or is not known. It is known when Leave returns.
func (t *Team) StoppedBy() int {
	if t.member == nil {
		return 0
	}
	return t.member.StoppedBy()
}

// Departing tells whether this worker alone is to leave, at a step that it agrees
// on with the others, and then calls Leave. It never blocks.
func (t *Team) Departing() bool { return t.member != nil && t.member.Departing() }
