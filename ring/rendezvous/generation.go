package rendezvous

import (
	"context"

	"ringtrain/ring"
)

// generation is what a session knows of one: first it is awaited, then it has
// started, then it has ended, by itself or with the job.
type generation struct {
	ctx           context.Context
	cancel        context.CancelCauseFunc
	started       chan struct{}   // closed by the membership
	membership    ring.Membership // once started is closed
	previousLost  []int           // ranks that the one before it has lost
	previousCause *ring.Cause     // of that one's end
	ended         chan struct{}   // closed when it has ended and the job has not
	cause         *ring.Cause     // of its own end, once ended is closed
	lost          []int           // the ranks that it lost itself, likewise
}

func newGeneration(life context.Context) *generation {
	g := &generation{started: make(chan struct{}), ended: make(chan struct{})}
	g.ctx, g.cancel = context.WithCancelCause(life)
	return g
}

// is tells whether the generation has the number n. One that is awaited has none.
func (g *generation) hasNumber(n uint64) bool {
	return isClosed(g.started) && g.membership.Generation == n
}

func (g *generation) hasEnded() bool { return isClosed(g.ended) }

// end is the end of the generation alone. The context ends first: whoever waits
// for ended finds its cause there.
func (g *generation) end(c *ring.Cause, losses []int) {
	g.cause, g.lost = c, losses
	g.cancel(endedError(c))
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
