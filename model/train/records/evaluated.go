package records

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Evaluated says what a trained model is evaluated on.
type Evaluated struct {
	Files    []string // in the place of the job's records
	Split    string   // of the job's records: train, eval, test or a name of input.evals; "": as training evaluates
	Labelled bool     // their labels are read
	Cells    bool     // their cells are read: from their files, not from a cache
	Proves   bool     // they verify an export: those of training do without validation records

	Pipe io.Reader // has the lines of the records, in the place of files; nil: there is none
}

// OpenPipe returns the records of e.Pipe, which a trained model is to predict.
func (o *Opener) OpenPipe(e Evaluated) (*convert.Pipe, error) {
	_, _, spec, err := o.evaluated(e)
	if err != nil {
		return nil, err
	}
	return spec.OpenPipe(e.Pipe)
}

// OpenEvaluated opens the records that a trained model is evaluated on, and names their split. Without validation
// records the error is ErrNoValidation.
func (o *Opener) OpenEvaluated(ctx context.Context, e Evaluated) (d input.Dataset, split string, err error) {
	part, set, spec, err := o.evaluated(e)
	if err != nil {
		return nil, "", err
	}
	split = part.String()
	if o.job.Input.Synthetic && len(e.Files) == 0 {
		s, err := drawSet(o.job)
		if part == input.Training {
			return s.Train, split, err
		}
		return s.Eval, split, err
	}
	there := *o
	if len(e.Files) > 0 {
		there.opts.Roots = []string{"."}
	}
	d, err = there.openSpec(ctx, spec, set)
	o.strange = there.strange
	if err == nil && spec.Split.Holds() {
		d = spec.Split.PartsOf(d).View(d, part)
	}
	return d, split, adviseOnMissing(o.job, err)
}

// About returns the key of the records of e in messages, their name in metrics, "" for none, and how many bad ones are
// passed over. split is as OpenEvaluated returns it.
func (o *Opener) About(e Evaluated, split string) (key, name string, maxBad int64) {
	files := strings.Join(e.Files, ", ")
	switch at := o.named(e); {
	case e.Pipe != nil:
		return convert.PipeName, files, o.job.Input.MaxBad
	case files != "":
		return files, files, o.job.Input.MaxBad
	case at >= 0:
		return job.EvalKey(e.Split, at), e.Split, 0
	}
	return KeyOf(o.job, split), "", MaxBad(o.job, split)
}

// parts are the splits of each job.
var parts = [...]string{input.Training.String(), input.Validation.String(), input.Test.String()}

// named returns the place in input.evals of the records that e names, -1 if they are others.
func (o *Opener) named(e Evaluated) int {
	if slices.Contains(parts[:], e.Split) {
		return -1
	}
	return slices.IndexFunc(o.job.Input.Evals, func(f job.NamedFiles) bool { return f.Name == e.Split })
}

// evaluated returns which of the job's records are evaluated, the key of their set, "" for other files, and how they are
// read.
func (o *Opener) evaluated(e Evaluated) (part input.Part, set string, spec convert.Spec, err error) {
	if part, err = o.partOf(e); err != nil {
		return 0, "", spec, err
	}
	f, set := o.job.Input.Train, "input.train"
	if o.job.Input.Eval.Format != "" && part == input.Validation {
		f, set = o.job.Input.Eval, "input.eval"
	}
	if at := o.named(e); at >= 0 {
		f, set = o.job.Input.Evals[at].Files, job.EvalKey(e.Split, at)
	}
	if len(e.Files) > 0 {
		set = ""
		if f, err = f.Give(e.Files); err != nil {
			return 0, "", spec, err
		}
	}
	spec = o.spec(f, o.job.Model.Features)
	_, _, maxBad := o.About(e, part.String())
	spec.LabelRule.Absent, spec.Tolerate = !e.Labelled, maxBad > 0
	spec.Cache, spec.CacheDir, spec.FindCache = o.job.Input.Cache, o.opts.CacheDir, true
	if set == "input.train" {
		spec.Split = o.job.Input.Split
		spec.Limits.Trained = spec.Split.Holds() && o.sizedBy != ""
	}
	if e.Cells {
		spec.Cache = convert.CacheOff
	}
	return part, set, spec, nil
}

// partOf returns which of the job's records a trained model is evaluated on.
func (o *Opener) partOf(e Evaluated) (input.Part, error) {
	refused := func(format string, args ...any) (input.Part, error) {
		return 0, exitcode.With(exitcode.Usage, fmt.Errorf("--split is "+format, args...))
	}
	switch e.Split {
	case "":
		switch {
		case o.job.HasValidation():
			return input.Validation, nil
		case o.job.Eval.Training || e.Proves || len(e.Files) > 0:
			return input.Training, nil
		}
		return 0, ErrNoValidation
	case input.Training.String():
		return input.Training, nil
	case input.Validation.String():
		if !o.job.HasValidation() {
			return 0, ErrNoValidation
		}
		return input.Validation, nil
	case input.Test.String():
		if o.job.Input.Split.Test == nil {
			return refused("test, and the job has no test records: add input.split.test")
		}
		return input.Test, nil
	}
	if o.named(e) >= 0 {
		return input.Validation, nil
	}
	want := slices.Clone(parts[:])
	for _, f := range o.job.Input.Evals {
		want = append(want, f.Name)
	}
	return refused("%s, want one of %s", phrase.Quote(e.Split), strings.Join(want, ", "))
}
