package trained

import (
	"cmp"
	"context"
	"fmt"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Form says what predictions have.
type Form struct {
	Keys    []string // names of the columns that are handed on; nil: the number of the record stands for them
	Classes []string // names of the classes, or their numbers; none: a regression
	Named   bool     // Classes are names
}

// Prediction is what the model says of one record.
type Prediction struct {
	Record int      // its number in the files, also where a split holds it out
	Keys   []string // as many as the form's
	Class  int      // 0 of a regression

	// Scores are the probability of each class; of two classes that of the second; of a regression the value.
	Scores []float32
}

// Form returns the form of the predictions of Predict.
func (mo *Model) Form() Form {
	g := mo.model.Graph()
	f := Form{Classes: g.Head.Names(), Named: g.Head.Labels != nil}
	if g.Columns != nil {
		f.Keys = g.Columns.Keys
	} else if mo.data != nil {
		f.Keys = mo.data.Facts().Keys
	}
	return f
}

// Predict calls each with the predictions of all records, in order, some at a time. They are valid only during the
// call. It passes over as many bad records as input.max_bad_records says, but for those of input.eval, and warns.
func (mo *Model) Predict(ctx context.Context, each func([]Prediction) error) error {
	if mo.job.Eval.Threshold.BestF1 {
		return exitcode.With(exitcode.Usage, fmt.Errorf("eval.threshold is best_f1, and %s does not keep which it is: want a number, as in --set eval.threshold=0.5", mo.vars.Path))
	}
	if err := mo.assign(mo.job.Train.Average.Evaluate); err != nil {
		return err
	}
	p := predictor{Model: mo, keys: len(mo.Form().Keys), classes: mo.model.Graph().Head.Classes, each: each}
	if mo.pipe != nil {
		if err := mo.pipe.Each(ctx, p.block); err != nil {
			return err
		}
	} else if err := p.dataset(ctx); err != nil {
		return err
	}
	if p.lost > 0 {
		text := fmt.Sprintf("%s: ignored %s; the first: %v", mo.name, phrase.Count(int(p.lost), "bad record"), p.fault)
		mo.warnings = append(mo.warnings, report.Warning{Operation: "input", Cause: text})
	}
	mo.warnings = append(mo.warnings, mo.from.Warnings(mo.name, &mo.seen, true)...)
	return nil
}

// predictor predicts block after block.
type predictor struct {
	*Model
	keys, classes int
	each          func([]Prediction) error

	next  int   // record
	lost  int64 // bad records
	fault error // of the first
	all   []Prediction
}

// dataset predicts the records of the data set.
func (p *predictor) dataset(ctx context.Context) error {
	b := input.Batch{WantKeys: true}
	err := input.EachBlock(ctx, &b, p.data, p.data.Facts().Records, p.maxBad > 0, func(int) error { return p.block(&b) })
	p.seen.Whole = p.data.Facts().Counts
	return err
}

// block predicts the records of b, which follow those before. It passes over bad ones.
func (p *predictor) block(b *input.Batch) error {
	p.lost, p.fault = p.lost+int64(b.Lost), cmp.Or(p.fault, b.Fault)
	if p.lost > p.maxBad {
		return exitcode.With(exitcode.BadData, fmt.Errorf("%d bad records, want at most %d, as input.max_bad_records says: %w", p.lost, p.maxBad, p.fault))
	}
	first := p.next
	p.next += len(b.Y) + len(b.Bad)
	p.seen.Add(b)
	if len(b.Y) == 0 {
		return nil
	}
	for len(b.Keys) < p.keys*len(b.Y) { // of a cache without keys
		b.Keys = append(b.Keys, "")
	}
	scores, record, bad := p.model.Predict(&b.X), first, b.Bad
	p.all = p.all[:0]
	for i := range scores.Rows {
		for ; len(bad) > 0 && bad[0] == record-first; bad = bad[1:] {
			record++
		}
		one := Prediction{Record: input.NumberOf(p.data, record), Scores: scores.Row(i)}
		record++
		if p.classes > 0 {
			one.Class = model.Predicted(one.Scores, p.job.Eval.Threshold.Number)
		}
		if p.classes == 2 {
			one.Scores = one.Scores[len(one.Scores)-1:]
		}
		if p.keys > 0 {
			one.Keys = b.Keys[i*p.keys : (i+1)*p.keys]
		}
		p.all = append(p.all, one)
	}
	return p.each(p.all)
}
