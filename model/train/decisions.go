package train

import (
	"cmp"
	"fmt"
	"strings"

	"ringtrain/export/checkpoint"
	"ringtrain/model"
	"ringtrain/model/internal/kernel"
	"ringtrain/model/job"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/order"
)

// KernelsChoice is the name under which ranks offer their kernel sets, see ring.Choice.
const KernelsChoice = "kernels"

// KernelSets returns the kernel sets that this rank offers, in ascending order: those that it
// has, or the one that the job wants.
func (t *Trainer) KernelSets() []string { return t.job.KernelSets() }

// chosenKernels returns the kernel set of all ranks of m. Where nobody chooses, as at world
// size 1 without a meeting, it is the highest that this rank offers.
func chosenKernels(j *job.Config, m ring.Membership) (kernel.Set, error) {
	offered := j.KernelSets()
	return kernel.ParseSet(cmp.Or(m.Choice(KernelsChoice).Value, offered[len(offered)-1]))
}

// tellKernels tells which kernel set the ranks have, if the checkpoint was trained with
// another one, the generation before had another one, or some rank could have a higher one. The run goes on, after a change with bits that one without it would not have.
func (r *run) reportKernels() {
	m, set := r.team.Group.Membership(), r.kernelSet.String()
	c, was := m.Choice(KernelsChoice), r.storedKernels
	r.storedKernels = ""
	var why []string
	if c.Lacks >= 0 {
		why = append(why, fmt.Sprintf("rank %d on %s has no higher one", c.Lacks, m.Workers[c.Lacks].Host))
	}
	switch next := r.progress.step + 1; {
	case was != "" && was != set:
		why = append(why, fmt.Sprintf("the checkpoint was trained with %s: from step %d on bits may differ from those of a run without the change", was, next))
	case c.Was != "" && next > 1:
		why = append(why, fmt.Sprintf("generation %d had %s: from step %d on bits may differ from those of a run without the change", m.Generation-1, c.Was, next))
	case r.reportedKernels == set:
		return
	}
	r.reportedKernels = set
	if len(why) > 0 && !r.finished {
		r.emit(report.Decision{What: "kernels", Choice: set, Why: strings.Join(why, "; ")})
	}
}

// KeptOrder returns the order of the ring that this job has measured before, nil
// if this process knows of none: from the generation before, or if it is rank 0,
// from the checkpoint that it will restore. It is for join.Config, since the
// links are opened before the state is restored.
//
// A checkpoint that cannot be read is no fault here: restoring it will tell.
func (t *Trainer) KeptOrder(rank int) []int {
	if len(t.measuredOrder) > 0 || rank != 0 || t.job.Checkpoint.Dir == "" || t.opts.Resume == "never" {
		return t.measuredOrder
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
func (r *run) recordOrder() {
	m := r.team.Group.Membership()
	ranks, _ := m.InRing()
	if r.measuredOrder = nil; m.Order.Measured {
		r.measuredOrder = ranks
	}
	text := order.Format(ranks)
	if m.Order.Why == "" || r.finished || text == r.reportedOrder {
		return
	}
	r.reportedOrder = text
	r.emit(report.Decision{What: "order", Choice: text, Why: m.Order.Why})
}

// tellWay tells how the rows of tables go between ranks that share no memory, and when that
// changes. It follows from how many rows the ranks have, which all know alike.
func (r *run) reportTableRoute() {
	g, sum := r.team.Group, r.loop.Reducer.RowSum()
	if sum == nil || g.Membership().Size() == 1 || g.Levels() == "host" {
		return
	}
	way := sum.Way(0).String()
	if way == r.reportedTableRoute {
		return
	}
	r.reportedTableRoute = way
	r.emit(report.Decision{What: "tables", Choice: way, Why: fmt.Sprintf(
		"step %d has %d rows over all ranks, of tables of %d", r.loop.Step, sum.Counts(0).Rows, r.tableRows())})
}

// tellRule tells what a rule that moves all rows costs.
func (r *run) noticeAllRows() {
	if r.job.Optimizer.MovesAllRows() && r.tableRows() > 0 {
		r.opts.Notice(fmt.Sprintf("optimizer %s moves all rows of tables in each step, as TensorFlow does; lazy-adam moves those that the batch touches", r.job.Optimizer.Name))
	}
}

// zerosOf counts those of the tables among vars.
func zerosOf(vars []*model.Variable) []report.Zeros {
	var all []report.Zeros
	for _, v := range vars {
		if !v.ByRows {
			continue
		}
		z := report.Zeros{Name: v.Name, Elements: int64(v.Len())}
		for _, w := range v.Value {
			if w == 0 {
				z.Zeros++
			}
		}
		all = append(all, z)
	}
	return all
}
