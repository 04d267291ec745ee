package train

import (
	"context"

	"ringtrain/model/train/evaluate"
)

// countTraining tells what no training record has, at the end of the first epoch that all ranks have
// counted, or of the run. It is a collective operation.
func (r *run) countTraining(ctx context.Context) error {
	p := &r.progress
	if p.counted || p.epoch.examples == 0 || p.position.Offset != 0 && r.loop.Step < r.loop.Steps {
		return nil
	}
	sum := r.loop.Seen
	if err := evaluate.SumCounts(ctx, r.team.Group, &sum, r.data.Train); err != nil {
		return err
	}
	if p.counted = sum.Records == p.epoch.examples; p.counted { // else a rank has begun within the epoch
		r.reporter.tellAbsent("input.train", r.data.Plan, &sum)
	}
	return nil
}
