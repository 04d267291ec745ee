package train

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/internal/kernel"
	"ringtrain/model/job"
	"ringtrain/ring"
	"ringtrain/ring/cores"
	"ringtrain/ring/exitcode"
)

// Saved is a trained model read from a checkpoint or a bundle, with the records
// that it is to be tried on.
type Saved struct {
	Step  int64  // of the checkpoint; of a bundle, where it says so
	Note  string // for people: what makes results differ from those of training; "" for nothing
	epoch int64  // likewise; 0: it does not say
	job   *job.Config
	kept  stored
	model *model.Model
	from  *Opener
	data  input.Dataset
	split string
}

// OpenSaved reads the variables at from (the job's checkpoint.dir if that is
// empty), and opens the job's validation records, or files in their place.
func OpenSaved(cfg *job.Config, roots []string, from string, files []string) (*Saved, error) {
	if from == "" {
		from = cfg.Checkpoint.Dir
	}
	if from == "" {
		return nil, exitcode.With(exitcode.Usage, errors.New("--from is empty and the job has no checkpoint.dir"))
	}
	if err := cfg.CheckKernels(); err != nil {
		return nil, err
	}
	kept, err := readStored(from)
	if err != nil {
		return nil, err
	}
	sized := *cfg
	opener := NewOpener(&sized, OpenOptions{Roots: roots})
	if err := opener.Adopt(kept.path, kept.columns); err != nil {
		return nil, err
	}
	if sized.Model.Features == 0 && !opener.HasColumns() { // what training had, not what these records have
		if sized.Model.Features, err = kept.features(cfg); err != nil {
			return nil, err
		}
	}
	s := &Saved{Step: kept.step, epoch: kept.epoch, job: &sized, kept: kept, from: opener}
	if s.data, s.split, err = opener.OpenEvaluated(files); err != nil {
		return nil, err
	}
	if s.model, err = opener.NewModel(s.data); err == nil {
		err = kept.fits(s.model.Variables()) // before they take memory
	}
	if err != nil {
		s.data.Close()
		return nil, err
	}
	bindValues(s.model.Variables())
	s.useKernels()
	return s, nil
}

// useKernels has the model compute as training did: with train.kernels, else with the set
// that the checkpoint names, else with the highest of this machine.
func (s *Saved) useKernels() {
	has := s.job.KernelSets()
	name, was := has[len(has)-1], s.kept.kernels
	switch {
	case s.job.Train.Kernels != job.Auto || was == "":
	case slices.Contains(has, was):
		name = was
	default:
		s.Note = fmt.Sprintf("%s was trained with the kernels %s, which this machine does not have: with %s the last bits may differ", s.kept.path, was, name)
	}
	set, err := kernel.ParseSet(name)
	if err != nil {
		panic("train: a kernel set that this build offers and does not know")
	}
	s.model.Use(set, cores.Own())
}

// use takes the average of the variables, if that is asked for and what was read is a
// checkpoint: a bundle has one set of variables.
func (s *Saved) use(average bool) error {
	vars := s.model.Variables()
	if average && !IsBundle(s.kept.path) {
		var err error
		if vars, err = s.kept.averaged(vars); err != nil {
			return exitcode.With(exitcode.BadData, err)
		}
	}
	return s.kept.assign(vars)
}

// Close releases the records and ends the model's threads.
func (s *Saved) Close() error {
	s.model.Close()
	return s.data.Close()
}

// Evaluate computes the model's metrics over the records.
func (s *Saved) Evaluate(ctx context.Context) (Metrics, error) {
	return s.evaluate(ctx, Evaluator{Data: s.data, Split: s.split})
}

// EvaluateOthers calls each with the metrics over the items of input.evals, in their order.
func (s *Saved) EvaluateOthers(ctx context.Context, each func(Metrics)) error {
	evals, err := s.from.OpenEvals(s.job.Model.Features, s.from.TrainedClasses())
	if err != nil {
		return err
	}
	defer CloseEvals(evals)
	for _, e := range evals {
		m, err := s.evaluate(ctx, Evaluator{Data: e.Data, Split: "eval", Name: e.Files.Name})
		if err != nil {
			return err
		}
		each(m)
	}
	return nil
}

// evaluate runs e, which lacks the model.
func (s *Saved) evaluate(ctx context.Context, e Evaluator) (Metrics, error) {
	if err := s.use(s.job.Train.Average.Evaluate); err != nil {
		return Metrics{}, err
	}
	m := ring.Membership{Generation: 1, Workers: []ring.Worker{{}}}
	g, err := ring.New(ctx, m, ring.Transport{}, ring.DefaultConfig())
	if err != nil {
		return Metrics{}, err
	}
	defer g.Close()
	e.Model, e.TopK = s.model, s.job.Eval.TopK
	metrics, err := e.Run(ctx, g)
	if failed, ok := errors.AsType[evalFailure](err); ok { // of one rank there is nothing to say
		err = exitcode.With(failed.ExitCode, errors.New(failed.Text))
	}
	metrics.Step, metrics.Epoch = s.Step, s.epoch
	return metrics, err
}

// Prediction is what a model says of one record.
type Prediction struct {
	Record int       `json:"record"`
	Key    *string   `json:"key,omitempty"` // of the record's key column; nil where input.columns has none
	Scores []float32 `json:"scores"`
}

// Kind names the event.
func (Prediction) Kind() string { return "prediction" }

// Predict calls each with the scores of every record, in order. The scores are
// valid during the call only.
func (s *Saved) Predict(ctx context.Context, each func(Prediction) error) error {
	if err := s.use(s.job.Train.Average.Evaluate); err != nil {
		return err
	}
	var b input.Batch
	for first := 0; first < s.data.Len(); first += input.EvalBlock {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := readRecords(&b, s.data, first, min(first+input.EvalBlock, s.data.Len())); err != nil {
			return err
		}
		scores := s.model.Predict(&b.X)
		for i := range scores.Rows {
			p := Prediction{Record: first + i, Scores: scores.Row(i)}
			if len(b.Keys) > 0 {
				p.Key = &b.Keys[i]
			}
			if err := each(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// Export writes a serving bundle of the model to base.
func (s *Saved) Export(base string) (Exported, error) {
	cfg := *s.job
	if base != "" {
		cfg.Export.SavedModel = base
	}
	if cfg.Export.SavedModel == "" {
		return Exported{}, exitcode.With(exitcode.Usage, errors.New("--to is empty and the job has no export.savedmodel"))
	}
	if err := s.use(cfg.Train.Average.Export); err != nil {
		return Exported{}, err
	}
	return exporter{job: &cfg, model: s.model, data: s.data}.write(s.Step)
}
