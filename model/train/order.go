package train

import (
	"fmt"

	"ringtrain/export/checkpoint"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/order"
)

// KeptOrder returns the order of the ring that this job has measured before, nil
// if this process knows of none: from the generation before, or if it is rank 0,
// from the checkpoint that it will restore. It is for launch.MeetConfig, since the
// links are opened before the state is restored.
//
// A checkpoint that cannot be read is no fault here: restoring it will tell.
func (t *Trainer) KeptOrder(rank int) []int {
	if len(t.order) > 0 || rank != 0 || t.job.Checkpoint.Dir == "" || t.opts.Resume == "never" {
		return t.order
	}
	path, stored, _ := checkpoint.NewestRun(t.job.Checkpoint.Dir)
	ranks, _ := storedOrder(path, stored.Decisions)
	return ranks
}

// storedOrder returns the order of the ring among a checkpoint's decisions, nil if
// there is none.
func storedOrder(path string, decisions map[string]string) ([]int, error) {
	text, ok := decisions["order"]
	if !ok {
		return nil, nil
	}
	ranks, err := order.ParseRanks(text)
	if err != nil {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("%s: decision: order is %q: %w", path, text, err))
	}
	return ranks, nil
}

// settleOrder holds the order of the ring if it was measured, and tells it if there
// is something to tell and it is another one than that told before.
func (r *run) settleOrder() {
	m := r.team.Group.Membership()
	ranks, _ := m.InRing()
	if r.order = nil; m.Order.Measured {
		r.order = ranks
	}
	text := order.Format(ranks)
	if m.Order.Why == "" || r.finished || text == r.ordered {
		return
	}
	r.ordered = text
	r.emit(report.Decision{What: "order", Choice: text, Why: m.Order.Why})
}
