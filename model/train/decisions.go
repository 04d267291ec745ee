package train

import (
	"fmt"
	"strings"

	"ringtrain/input/column"
	"ringtrain/model"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/phrase"
)

// KernelsChoice is the name under which ranks offer their kernel sets, see ring.Choice.
const KernelsChoice = "kernels"

// KernelSets returns the kernel sets that this rank offers, in ascending order: all that this machine
// has, or the one that the job wants.
func (t *Trainer) KernelSets() []string { return t.job.KernelSets() }

// reportKernels reports the kernel set of the ranks if it differs from that of the checkpoint or of the
// generation before, or if some rank lacks a higher set. The run continues after step; after a change
// its bits may differ from those of a run without the change. A finished run has no step to report for.
func (r *reporter) reportKernels(m ring.Membership, set string, step int64, finished bool) {
	c, was := m.Choice(KernelsChoice), r.restored
	r.restored = ""
	var why []string
	if c.Lacks >= 0 {
		why = append(why, fmt.Sprintf("rank %d on %s has no higher one", c.Lacks, m.Workers[c.Lacks].Host))
	}
	switch next := step + 1; {
	case was != "" && was != set:
		why = append(why, fmt.Sprintf("the checkpoint was trained with %s: from step %d on bits may differ from those of a run without the change", was, next))
	case c.Was != "" && next > 1:
		why = append(why, fmt.Sprintf("generation %d had %s: from step %d on bits may differ from those of a run without the change", m.Generation-1, c.Was, next))
	case r.kernels == set:
		return
	}
	r.kernels = set
	if len(why) > 0 && !finished {
		r.emit(report.Decision{What: "kernels", Choice: set, Why: strings.Join(why, "; ")})
	}
}

// reportRoute reports how the rows of tables, which have so many, travel between hosts, and each change
// of it. The route follows from the number of rows on the ranks, which all ranks know.
func (r *reporter) reportRoute(l *Loop, rows int) {
	g, sum := l.Group, l.Reducer.RowSum()
	if sum == nil || g.Membership().Size() == 1 || g.Levels() == "host" {
		return
	}
	way := sum.Way(0).String()
	if way == r.route {
		return
	}
	r.route = way
	r.emit(report.Decision{What: "tables", Choice: way, Why: fmt.Sprintf(
		"step %d has %d rows over all ranks, of tables of %d", l.Step, sum.Counts(0).Rows, rows)})
}

// startNotices returns what is told once at the start, beside the event.
func (r *run) startNotices() []string {
	all := append(r.repeated, r.job.Model.Unused()...)
	if r.job.Input.Synthetic && r.job.Input.Split.Holds() {
		all = append(all, "input.split is not used: input.synthetic draws validation records of its own")
	}
	if r.job.Optimizer.MovesAllRows() && r.tableRows() > 0 {
		all = append(all, fmt.Sprintf("optimizer %s moves all rows of tables in each step, as TensorFlow does; lazy-adam moves those that the batch touches", r.job.Optimizer.Name))
	}
	if names := missingCells(r.data.Plan); len(names) > 0 {
		all = append(all, "missing cells: "+strings.Join(names, "; "))
	}
	if names := missingNumbers(r.data.Plan); len(names) > 0 {
		all = append(all, "missing numbers count as 0 before standardize: "+strings.Join(names, ", ")+"; default: mean would count them as the mean, default: 0 says that 0 is meant")
	}
	return all
}

// missingCells returns the columns that some training records have nothing in.
func missingCells(plan *column.Plan) (names []string) {
	if plan == nil {
		return nil
	}
	const mostNamed = 10
	all := plan.Missed()
	for _, c := range all[:min(len(all), mostNamed)] {
		names = append(names, fmt.Sprintf("%s in %d of %d (%s)", c.Column, c.Missing, c.Records, strings.Join(c.Words, ", ")))
	}
	if more := len(all) - mostNamed; more > 0 {
		names = append(names, phrase.Count(more, "other column"))
	}
	return names
}

// missingNumbers returns the standardized columns whose missing numbers count as 0 unasked.
func missingNumbers(plan *column.Plan) (names []string) {
	if plan == nil {
		return nil
	}
	const mostNamed = 3
	all := plan.Assumed()
	for _, c := range all[:min(len(all), mostNamed)] {
		names = append(names, fmt.Sprintf("%s (%d of %d)", c.Column, c.Missing, c.Records))
	}
	if more := len(all) - mostNamed; more > 0 {
		names = append(names, phrase.Count(more, "other column"))
	}
	return names
}

// zerosOf counts the zeros of the tables among vars.
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
