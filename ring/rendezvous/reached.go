package rendezvous

import (
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// What is known of a worker's step is as old as its last heartbeat. When a worker is
// lost the job is as far as any other one says that it has come: the rendezvous takes
// the latest that it hears of, and each worker that is told of the loss its own.

// raised is c with step, if a loss is told with an earlier one. Other causes say of
// themselves when they happened, or come before there are steps.
func raised(c *ring.Cause, step int64) *ring.Cause {
	if c == nil || c.ExitCode != exitcode.Retry || c.Operation == opJoin || step <= c.Step {
		return c
	}
	later := *c
	later.Step = step
	return &later
}

// reached is c with the step that the job has come to, as far as was heard.
func (s *State) reached(c *ring.Cause) *ring.Cause {
	for _, m := range s.here {
		c = raised(c, m.step)
	}
	return c
}
