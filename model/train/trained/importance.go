package trained

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model/train/evaluate"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// permutations is how often the cells of a column are permuted.
const permutations = 3

// Importance tells what a model makes of a column: how much worse it becomes if the cells of the column are permuted among
// the records. The numbers are means and deviations of several permutations.
type Importance struct {
	Column        string         `json:"column"`
	Loss          report.Number  `json:"loss"` // what the loss gains
	LossDeviation report.Number  `json:"loss_deviation"`
	AUC           *report.Number `json:"auc,omitempty"` // what the AUC loses
	AUCDeviation  *report.Number `json:"auc_deviation,omitempty"`
}

// Importance returns the importance of each column of the records that Open opened, the largest first. It takes at most so
// many of the records, drawn by train.seed as the permutations are, and passes over bad ones.
func (mo *Model) Importance(ctx context.Context, most int) ([]Importance, error) {
	plan := mo.from.Plan()
	if plan == nil {
		return nil, exitcode.With(exitcode.Usage, errors.New("--importance is of columns, want a job with input.columns"))
	}
	sample, err := mo.sample(ctx, most)
	if err != nil {
		return nil, err
	}
	defer plan.Watch(nil)
	p := permuter{model: mo, data: sample, cells: make([]column.Cell, len(plan.Inputs)), features: plan.Features()}
	plan.Watch(p.take)
	before, err := p.evaluate(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Importance, len(p.features))
	for p.at = range p.features {
		var worse [permutations]report.Metrics
		p.own, p.others = p.others, nil
		for p.repeat = range permutations {
			p.order = mo.random(uint64(p.at*permutations + p.repeat)).Perm(sample.Facts().Records)
			if worse[p.repeat], err = p.evaluate(ctx); err != nil {
				return nil, err
			}
		}
		all[p.at] = importanceOf(p.features[p.at].Name, before, worse[:])
	}
	slices.SortStableFunc(all, func(a, b Importance) int { return cmp.Compare(b.Loss, a.Loss) })
	return all, nil
}

// random returns the numbers of a use of train.seed.
func (mo *Model) random(use uint64) *rand.Rand { return rand.New(rand.NewPCG(mo.job.Train.Seed, use)) }

// sample returns at most so many of the records, without bad ones.
func (mo *Model) sample(ctx context.Context, most int) (input.Dataset, error) {
	records := mo.data.Facts().Records
	parts, r, left := input.NewParts(records, input.Validation), mo.random(math.MaxUint64), most
	var b input.Batch
	err := input.EachBlock(ctx, &b, mo.data, records, mo.maxBad > 0, func(first int) error {
		for i := first; i < min(first+input.EvalBlock, records); i++ {
			drawn := r.IntN(records-i) < left // Knuth's algorithm S
			if drawn {
				left--
			}
			if drawn && !slices.Contains(b.Bad, i-first) {
				parts.Put(i, input.Validation)
			}
		}
		return nil
	})
	return parts.View(mo.data, input.Validation), err
}

// A permuter evaluates a model over records whose cells of one feature are permuted.
type permuter struct {
	model    *Model
	data     input.Dataset
	cells    []column.Cell // of a record that has others
	features []column.Feature
	at       int // feature whose cells are permuted
	repeat   int
	order    []int // record whose cells each record takes; nil: each has its own

	own, others [][]column.Cell // of each record: the cells of the feature, and those of the next one as they are read
	record      int
}

// evaluate returns the metrics. The last time before a feature is permuted it also copies the feature's cells.
func (p *permuter) evaluate(ctx context.Context) (report.Metrics, error) {
	p.record = 0
	return p.model.run(ctx, &evaluate.Evaluator{Data: p.data, Split: p.model.split})
}

// take is for column.Plan.Watch.
func (p *permuter) take(cells []column.Cell) []column.Cell {
	next := 0 // of the first evaluation, in which nothing is permuted
	if p.order != nil {
		next = p.at + 1
	}
	if next < len(p.features) && (p.order == nil || p.repeat == permutations-1) {
		p.others = append(p.others, p.features[next].Copy(cells))
	}
	if p.order == nil {
		return cells
	}
	copy(p.cells, cells)
	p.features[p.at].Put(p.cells, p.own[p.order[p.record]])
	p.record++
	return p.cells
}

// importanceOf compares metrics with those of records as they are.
func importanceOf(name string, before report.Metrics, worse []report.Metrics) Importance {
	i := Importance{Column: name}
	i.Loss, i.LossDeviation = meanAndDeviation(worse, func(m report.Metrics) report.Number { return m.Loss - before.Loss })
	if before.AUC != nil {
		mean, deviation := meanAndDeviation(worse, func(m report.Metrics) report.Number { return *before.AUC - *m.AUC })
		i.AUC, i.AUCDeviation = &mean, &deviation
	}
	return i
}

// meanAndDeviation returns the mean of several values and their standard deviation, by n − 1.
func meanAndDeviation(all []report.Metrics, value func(report.Metrics) report.Number) (mean, deviation report.Number) {
	for _, m := range all {
		mean += value(m) / report.Number(len(all))
	}
	for _, m := range all {
		d := float64(value(m) - mean)
		deviation += report.Number(d * d / float64(len(all)-1))
	}
	return mean, report.Number(math.Sqrt(float64(deviation)))
}
