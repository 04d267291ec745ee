package rendezvous

import (
	"context"

	"ringtrain/ring"
)

// generation is one generation of a session. It is awaited, then started, then ended, alone or with
// the job.
type generation struct {
	ctx           context.Context
	cancel        context.CancelCauseFunc
	started       chan struct{}   // closed by the membership
	membership    ring.Membership // set before started is closed
	previousLost  []int           // ranks that the previous generation lost
	previousCause *ring.Cause     // cause of the previous generation's end
	ended         chan struct{}   // closed when the generation has ended and the job goes on
	cause         *ring.Cause     // cause of its end, set before ended is closed
	lost          []int           // ranks that it lost, set before ended is closed
}

func newGeneration(life context.Context) *generation {
	g := &generation{started: make(chan struct{}), ended: make(chan struct{})}
	g.ctx, g.cancel = context.WithCancelCause(life)
	return g
}

func (g *generation) hasEnded() bool { return isClosed(g.ended) }

// end ends the generation alone. The context ends first, so a reader of ended finds its cause
// there.
func (g *generation) end(c *ring.Cause, lost []int) {
	g.cause, g.lost = c, lost
	g.cancel(c.GenerationEnded())
	close(g.ended)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
