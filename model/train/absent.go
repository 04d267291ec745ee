package train

import (
	"context"

	"ringtrain/input"
	"ringtrain/model/train/evaluate"
	"ringtrain/model/train/records"
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
		r.tellAbsent("input.train", &sum)
	}
	return nil
}

// tellAbsent tells once what no record of a set has.
func (r *run) tellAbsent(set string, c *input.Counts) {
	if r.rank != 0 || r.told[set] {
		return
	}
	r.told[set] = true
	for _, w := range records.Warnings(set, r.data.Plan, c, false) {
		w.Host, w.Step = r.team.Group.Membership().Workers[0].Host, r.loop.Step
		r.emit(w)
	}
}
