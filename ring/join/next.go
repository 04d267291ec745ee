package join

import (
	"context"

	"ringtrain/ring"
)

// Next moves on to the next generation after an operation or Leave has failed. c is the
// cause of the fault of this worker. It is nil if the generation's context has ended. Next tells c to the others, closes the group and its links,
// keeps the port and the session, and waits until all ranks are there: the survivors, and
// the successors of the lost ones. It returns the team of the next generation, which owns
// everything. The caller must not use t any more.
//
// If the job is over, because no restart is left or none can help, the error holds the
// job's first cause and has its exit code. The caller must then close t.
//
// If the next generation fails before its links are open, Next tries the one after it, as
// long as the rendezvous has restarts.
func (t *Team) Next(ctx context.Context, c *ring.Cause) (*Team, error) {
	if t.member == nil {
		return nil, t.Abort(causeOr(t.Context(), c)).WithCode()
	}
	for at := t; ; {
		err := at.member.Outcome(ctx, c)
		at.closeGroup() // only now: the others would take the end of the group for the fault
		if err != nil {
			return nil, err
		}
		if err := at.member.Next(ctx); err != nil {
			return nil, err
		}
		next := &Team{Rendezvous: t.Rendezvous, config: t.config, member: t.member, session: t.session, port: t.port, server: t.server}
		next.begin(t.member.Membership())
		if err = next.open(ctx); err == nil {
			t.superseded.Store(true)
			return next, nil
		}
		c, at = next.causeOf(ctx, err), next
	}
}

// causeOr returns c, or the cause of the end of ctx if c is nil.
func causeOr(ctx context.Context, c *ring.Cause) *ring.Cause {
	if c != nil {
		return c
	}
	return ring.CauseOf(context.Cause(ctx), 0, "", -1)
}

// RequestLeave reports that a signal has told this worker to end with code. Stopping and
// Leaving return the answer. Only the first call counts.
func (t *Team) RequestLeave(code int) {
	if t.member == nil {
		t.stopCode.CompareAndSwap(0, int32(code))
		return
	}
	t.member.RequestLeave(code)
}

// Stopping returns the exit code that all workers are to stop with at one step, 0 for none.
// It never blocks.
func (t *Team) Stopping() int {
	if t.member == nil {
		return int(t.stopCode.Load())
	}
	return t.member.Stopping()
}

// StoppedBy returns the rank that a signal told to end, if all workers stop for it. It
// returns -1 if there was not exactly one, or if the rank is unknown. The rank is known
// when Leave returns.
func (t *Team) StoppedBy() int {
	if t.member == nil {
		return 0
	}
	return t.member.StoppedBy()
}

// Reached reports whether the rendezvous hears this worker. It never blocks.
func (t *Team) Reached() bool { return t.member == nil || t.member.Reached() }

// Leaving reports whether this worker alone is to leave, after the step in flight: the others do not
// stop. The worker then calls Abort with its exit code. Leaving never blocks.
func (t *Team) Leaving() bool { return t.member != nil && t.member.Leaving() }
