package train

import (
	"context"
	"fmt"

	"ringtrain/input"
	"ringtrain/model/train/evaluate"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
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

// tellUndivided tells how many records of the training files have no cell, of a column, that says their part.
func (r *reporter) tellUndivided(data *records.Set, by string) {
	if data.Without == 0 {
		return
	}
	all := int64(data.Train.Facts().Records)
	for _, d := range []input.Dataset{data.Eval, data.Test} {
		if d != nil {
			all += int64(d.Facts().Records)
		}
	}
	r.emit(report.Warning{
		Host: r.workers[0].Host, Step: r.step, Operation: "input", Set: "input.train", Column: by, Records: data.Without, Of: all,
		Cause: fmt.Sprintf("input.split.by: %s is missing in %d of %d records, which train", by, data.Without, all),
	})
}
