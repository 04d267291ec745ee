package train

import (
	"context"

	"ringtrain/input"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring"
)

// countTraining tells what no training record has, at the end of the first epoch that all ranks have
// counted, or of the run. It is a collective operation.
func (r *run) countTraining(ctx context.Context) error {
	p := &r.progress
	if p.counted || p.epoch.examples == 0 || p.position.Offset != 0 && r.loop.Step < r.loop.Steps {
		return nil
	}
	var all ring.Gathered
	if err := r.team.Group.AllGather(ctx, r.seen.Message(r.data.Train), &all); err != nil {
		return err
	}
	var sum input.Counts
	for rank := range r.team.Group.Membership().Size() {
		if err := sum.MergeMessage(all.At(rank)); err != nil {
			return err
		}
	}
	if sum.Records != p.epoch.examples { // a rank has begun within the epoch
		return nil
	}
	p.counted, r.loop.Seen = true, nil
	r.tellAbsent("input.train", &sum)
	return nil
}

// tellAbsent tells once what no record of a set has.
func (r *run) tellAbsent(set string, c *input.Counts) {
	if r.rank != 0 || r.told[set] {
		return
	}
	if r.told == nil {
		r.told = map[string]bool{}
	}
	r.told[set] = true
	for _, w := range records.Warnings(set, r.data.Plan, c, false) {
		r.warnOf(w)
	}
}

// tellNarrow tells which numbers the requests of an export lose.
func (r *run) tellNarrow() {
	if r.job.Export.SavedModel != "" && r.data.Plan != nil {
		r.data.Plan.Narrow(func(column, what string) {
			r.warnOf(report.Warning{Operation: "export", Column: column, Cause: column + ": " + what})
		})
	}
}

// warnOf emits a warning of rank 0 about the records.
func (r *run) warnOf(w report.Warning) {
	w.Host, w.Step = r.team.Group.Membership().Workers[0].Host, r.loop.Step
	r.emit(w)
}
