package evaluate

import (
	"context"
	"encoding/json"
	"fmt"

	"ringtrain/input"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// SumCounts adds the counts of the other ranks to c, which are of records of d. It is a collective
// operation.
func SumCounts(ctx context.Context, g *ring.Group, c *input.Counts, d input.Dataset) error {
	c.Whole = d.Facts().Counts
	mine, err := json.Marshal(c)
	if err != nil {
		panic("evaluate: counts cannot be encoded")
	}
	var all ring.Gathered
	if err := g.AllGather(ctx, mine, &all); err != nil {
		return err
	}
	*c = input.Counts{}
	for rank := range g.Membership().Size() {
		var o input.Counts
		if err := json.Unmarshal(all.At(rank), &o); err != nil {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("counts of rank %d: %w", rank, err))
		}
		c.Merge(&o)
	}
	return nil
}
