package records

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/remote"
	"ringtrain/model/graph"
	"ringtrain/model/job"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// Options say where the records of a job lie on this machine.
type Options struct {
	Roots    []string     // folders in which relative input files are looked for, in turn
	CacheDir string       // folder of parsed records if input.cache is auto; "": none
	Share    bool         // the caller counts the records of large text: see input.Counting
	Notice   func(string) // receives messages about files and caches; may be nil
	Repeated func(string) // receives those about names of files, which are equal on all ranks; nil: Notice does
}

// An Opener opens the records that a job names. It compiles input.columns once, and gives the
// compiled plan to each data set that it opens.
type Opener struct {
	job    *job.Config
	opts   Options
	places *remote.Store
	plan   *column.Plan // of input.columns once it is compiled; nil without input.columns

	classes *input.Classes // of labels that have names; nil: they have none
	names   []string       // of the classes; nil: they are not known, or have none

	strange []report.Warning // see Strange

	// sizedBy is the checkpoint or bundle whose training records gave model.features, "" for none.
	sizedBy string
}

// NewOpener returns an Opener. It reads nothing.
func NewOpener(cfg *job.Config, o Options) *Opener {
	if o.Repeated == nil {
		o.Repeated = o.Notice
	}
	return &Opener{job: cfg, opts: o, places: Places(cfg.Input, o.Notice)}
}

// Set holds the open training and evaluation records of a job. Eval is nil without validation records, and
// equals Train if the job asks for an evaluation of the training records.
type Set struct {
	Train, Eval input.Dataset
	Split       string        // of the evaluation: "eval" or "train", "" if nothing is evaluated
	Test        input.Dataset // records that are evaluated once, at the end; nil: none
	Plan        *column.Plan  // of input.columns; nil without input.columns
	Evals       []EvalSet     // of input.evals
	Elsewhere   []job.Option  // what hosts must agree on of objects that are copied, with words for a difference
	Without     int64         // records of the training files without a cell of input.split.by

	Strange []report.Warning // of sets that write texts as no training record does

	proving func(context.Context) (Proving, error) // of records with columns; nil: see Proving
}

// MaxBad returns how many bad records an evaluation of a split of the job passes over: the training files
// may have some.
func MaxBad(cfg *job.Config, split string) int64 {
	if split == input.Training.String() || cfg.Input.Split.Holds() {
		return cfg.Input.MaxBad
	}
	return 0
}

// Close releases the files.
func (s Set) Close() error {
	err := s.Train.Close()
	if s.Eval != nil && s.Eval != s.Train {
		err = errors.Join(err, s.Eval.Close())
	}
	if s.Test != nil {
		err = errors.Join(err, s.Test.Close())
	}
	return errors.Join(err, CloseEvals(s.Evals))
}

// Columns returns what the columns of a record become, nil without input.columns.
func (s Set) Columns() *graph.Columns {
	if s.Plan == nil {
		return nil
	}
	c := s.Plan.Columns()
	return &c
}

// Open opens the files that the job names, or draws synthetic records if input.synthetic is
// true. It never draws records because a file is missing. When ctx ends, it returns the cause, and so do
// later reads of compressed files.
func (o *Opener) Open(ctx context.Context) (Set, error) {
	cfg := o.job
	if cfg.Input.Synthetic {
		return drawSet(cfg)
	}
	elsewhere, err := o.gather(ctx)
	if err != nil {
		return Set{}, err
	}
	if err := o.compileLabelled(ctx); err != nil {
		return Set{}, err
	}
	train, err := o.openSplit(ctx, split{key: "input.train", files: cfg.Input.Train, features: cfg.DeclaredFeatures(), learn: true, share: o.opts.Share})
	if err != nil {
		return Set{}, err
	}
	s := Set{Train: train, Plan: o.plan, Elsewhere: elsewhere}
	if o.plan != nil {
		s.proving = o.proving
	}
	if cfg.Input.Split.Holds() {
		if s, err = s.divide(&cfg.Input.Split); err != nil {
			return Set{}, err
		}
	}
	if err := o.learntClasses(train.Facts().Classes); err != nil {
		return Set{}, errors.Join(err, s.Close())
	}
	facts := train.Facts()
	features := max(cfg.Model.Features, facts.Features) // a feature that the model does not have is a fault of the validation file
	if cfg.Input.Eval.Format != "" {
		eval, err := o.openSplit(ctx, split{key: "input.eval", files: cfg.Input.Eval, features: features, later: true, share: o.opts.Share})
		if err != nil {
			s.Close()
			return Set{}, err
		}
		s.Eval, s.Split = eval, "eval"
	}
	s.evaluateTraining(cfg)
	if s.Evals, err = o.OpenEvals(ctx, features); err != nil {
		s.Close()
		return Set{}, err
	}
	s.Strange = o.Strange()
	return s, nil
}

// split describes one data set of the job.
type split struct {
	key      string
	files    job.Files
	features int  // of the model, 0 if the records give the number
	later    bool // see convert.Spec
	learn    bool // see convert.Spec
	share    bool // see convert.Spec
}

// openSplit opens the files of s.
func (o *Opener) openSplit(ctx context.Context, s split) (input.Dataset, error) {
	d, err := o.openSpec(ctx, o.splitSpec(s), s.key)
	if err != nil {
		return nil, adviseOnMissing(o.job, fmt.Errorf("%s: %w", s.key, err))
	}
	if d.Facts().Records == 0 {
		d.Close()
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("%s: no records in %s", s.key, strings.Join(s.files.Named(), ", ")))
	}
	return d, nil
}

// splitSpec returns the specification of s for package convert.
func (o *Opener) splitSpec(s split) convert.Spec {
	training := s.key == "input.train"
	spec := o.spec(s.files, s.features)
	spec.Later, spec.Learn, spec.Share = s.later, s.learn, s.share
	spec.Tolerate = training && o.job.Input.MaxBad > 0
	if training {
		spec.Split = o.job.Input.Split
	}
	spec.Cache, spec.CacheDir = o.job.Input.Cache, o.opts.CacheDir
	spec.Again = training && o.job.Train.Steps == 0 && o.job.Train.Epochs > 1
	return spec
}

// spec returns the specification of f for package convert and this job's model.
func (o *Opener) spec(f job.Files, features int) convert.Spec {
	cfg := o.job
	s := convert.Spec{
		Origin: f, Dense: !cfg.ReadsIDs(), Features: features, Fields: cfg.Model.Fields, Columns: o.plan,
		Shape: cfg.Input.Shape, Resize: cfg.Input.Resize, Names: o.names,
		Limits:    input.Limits{MaxInflate: int64(cfg.Input.MaxInflate), MaxFeatures: cfg.Input.MaxFeatures},
		LabelRule: o.labels(), Notice: o.opts.Notice,
	}
	s.Limits.FeaturesWhy = o.featuresWhy()
	return s
}

// SizedBy sets model.features to a number that the training records of the model at path gave.
func (o *Opener) SizedBy(path string, features int) { o.sizedBy, o.job.Model.Features = path, features }

// featuresWhy says where the bound on ids is from, and what to do about an id beyond.
func (o *Opener) featuresWhy() string {
	const set = "; set model.features before training if the id is right"
	switch {
	case o.sizedBy != "":
		return ", as the training records of " + o.sizedBy + " have" + set
	case o.job.Model.Features > 0:
		return ", as model.features says; raise it before training if the id is right"
	case o.job.DeclaredFeatures() > 0:
		return fmt.Sprintf(", as input.shape %v says", o.job.Input.Shape) + set
	}
	return ", as the training records have" + set
}

// adviseOnMissing adds the two ways out if the files of a built-in job are missing.
func adviseOnMissing(cfg *job.Config, err error) error {
	if exitcode.Of(err) != exitcode.NoInput {
		return err
	}
	set := map[string]string{"mnist": "mnist", "ctr": "a8a"}[cfg.Name]
	if set == "" {
		return err
	}
	return fmt.Errorf("%w; get them with \"ringtrain data fetch %s\", or try the job without any file by --set input.synthetic=true",
		err, set)
}
