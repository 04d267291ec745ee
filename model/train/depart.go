package train

import (
	"context"
	"fmt"
	"slices"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// Departed means that ranks have left after a step, as they had asked to, and
// that this rank holds the state after it. Join the next generation and call Run
// again.
type Departed struct {
	Ranks []int
	Step  int64 // completed
}

func (e *Departed) Error() string {
	if len(e.Ranks) == 1 {
		return fmt.Sprintf("rank %d has left after step %d", e.Ranks[0], e.Step)
	}
	return fmt.Sprintf("ranks %v have left after step %d", e.Ranks, e.Step)
}

// Unwrap is ring.ErrGenerationEnded.
func (e *Departed) Unwrap() error { return ring.ErrGenerationEnded }

// depart lets those ranks go that have asked to leave, when all have completed
// the step. Nobody else has rank 0's disk, so that it writes a checkpoint before
// it goes; all else that is due is left to the next generation.
func (r *run) depart(ctx context.Context) error {
	e := &Departed{Step: r.loop.Step}
	for rank, t := range r.loop.Reducer.Tails() {
		if t.Depart {
			e.Ranks = append(e.Ranks, rank)
		}
	}
	if e.Ranks[0] == 0 {
		r.agreed.Checkpoint = true
		if _, err := r.checkpointLast(ctx, false); err != nil {
			return err
		}
	}
	if err := r.team.Group.Barrier(ctx); err != nil {
		return err
	}
	if e.Ranks[0] == 0 {
		r.agreed.Checkpoint = false
	}
	if r.departs = slices.Contains(e.Ranks, r.rank); r.departs {
		return nil
	}
	return exitcode.With(exitcode.Retry, e)
}
