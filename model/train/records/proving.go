package records

import (
	"context"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/ring/exitcode"
)

// Proving are the records by which an export is proved: those of the validation, or without any those of training.
type Proving struct {
	Data  input.Dataset // nil: there are none
	Split string
	Plan  *column.Plan // by which they are read, and no others; nil: they have no columns

	own bool // Close closes the data
}

// Close releases the records.
func (p Proving) Close() error {
	if !p.own || p.Data == nil {
		return nil
	}
	return p.Data.Close()
}

// Proving opens the records by which an export of the job is proved. Those with columns are read from their files once more:
// what is proved begins with their cells. Without their files there are none, and no error.
func (s Set) Proving(ctx context.Context) (Proving, error) {
	switch {
	case s.proving != nil:
		return s.proving(ctx)
	case s.Eval == nil:
		return Proving{Data: s.Train, Split: input.Training.String(), Plan: s.Plan}, nil
	}
	return Proving{Data: s.Eval, Split: s.Split, Plan: s.Plan}, nil
}

// proving opens the records with a plan of their own, which has learnt what the opener's has.
func (o *Opener) proving(ctx context.Context) (Proving, error) {
	cfg := *o.job
	again := &Opener{job: &cfg, opts: Options{Roots: o.opts.Roots}, places: o.places, classes: o.classes, names: o.names}
	learnt := o.plan.Columns()
	if err := again.Adopt(ctx, "the job", &learnt); err != nil {
		return Proving{}, err
	}
	d, split, err := again.OpenEvaluated(ctx, Evaluated{Labelled: true, Proves: true, Cells: true})
	if exitcode.Of(err) == exitcode.NoInput {
		return Proving{Plan: again.plan}, nil
	}
	return Proving{d, split, again.plan, true}, err
}
