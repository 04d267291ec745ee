package train

import (
	"fmt"

	"ringtrain/model"
	"ringtrain/model/train/report"
)

// tellWay tells how the rows of tables go between ranks that share no memory, and when that
// changes. It follows from how many rows the ranks have, which all know alike.
func (r *run) tellWay() {
	g, sum := r.team.Group, r.loop.Reducer.RowSum()
	if sum == nil || g.Membership().Size() == 1 || g.Levels() == "host" {
		return
	}
	way := sum.Way(0).String()
	if way == r.way {
		return
	}
	r.way = way
	r.emit(report.Decision{What: "tables", Choice: way, Why: fmt.Sprintf(
		"step %d has %d rows over all ranks, of tables of %d", r.loop.Step, sum.Counts(0).Rows, r.tableRows())})
}

// tellRule tells what a rule that moves all rows costs.
func (r *run) tellRule() {
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
