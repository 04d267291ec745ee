package trained

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/kernel"
	"ringtrain/model/train/evaluate"
	"ringtrain/model/train/proof"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring/cores"
	"ringtrain/ring/exitcode"
)

// Model is a trained model, read from a checkpoint or a bundle, with the records to evaluate it on.
type Model struct {
	Step  int64  // of the checkpoint; of a bundle, if the bundle stores it
	Note  string // for the user: why it is not the last step, or why results may differ from those of training; "" for none
	epoch int64  // of the checkpoint; 0 if unknown
	job   *job.Config
	vars  Variables
	model *model.Model
	from  *records.Opener
	data  input.Dataset
	pipe  *convert.Pipe // in the place of data, to predict; nil: there is none
	split string
	name  string // of the records, in warnings
	set   string // their name in metrics: files in the place of the job's, or an item of input.evals; "": none

	prover   *proof.Prover // of the bundle that is evaluated; nil: it is a checkpoint, or nothing was evaluated yet
	warnings []report.Warning
	seen     input.Counts // by Predict

	maxBad int64 // bad records of data that are passed over
}

// Open reads the variables at from, or at the job's checkpoint.dir if from is empty, and opens records.
func Open(ctx context.Context, cfg *job.Config, roots []string, from string, e records.Evaluated) (*Model, error) {
	note := ""
	if from == "" {
		if from, note = ResultOf(cfg.Checkpoint.Dir); from != cfg.Checkpoint.Dir {
			note += ": --from " + cfg.Checkpoint.Dir + " takes the last"
		}
	}
	if from == "" {
		return nil, exitcode.With(exitcode.Usage, errors.New("--from is empty and the job has no checkpoint.dir"))
	}
	if err := checkJob(cfg, e); err != nil {
		return nil, err
	}
	kept, err := Read(from)
	if err != nil {
		return nil, err
	}
	return open(ctx, cfg, opened{kept, note, roots}, e)
}

// OpenOwn is Open of the checkpoint or bundle at path by the job file that it keeps, which load reads.
func OpenOwn(ctx context.Context, path string, roots []string, e records.Evaluated, load func(name string, text []byte) (*job.Config, error)) (*Model, error) {
	from, note := ResultOf(path)
	kept, err := Read(from)
	if err != nil {
		return nil, err
	}
	if len(kept.jobFile) == 0 {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("%s keeps no job file: give the job, or files, and --from %s", kept.Path, path))
	}
	cfg, err := load(kept.Path+": job file", kept.jobFile)
	if err == nil {
		err = checkJob(cfg, e)
	}
	if err != nil {
		return nil, err
	}
	return open(ctx, cfg, opened{kept, note, roots}, e)
}

// checkJob returns an error if records cannot be evaluated by the job.
func checkJob(cfg *job.Config, e records.Evaluated) error {
	if err := cfg.CheckKernels(); err != nil || !e.Labelled {
		return err
	}
	return cfg.CheckLabel()
}

// opened is a checkpoint or bundle that was read.
type opened struct {
	kept  Variables
	note  string
	roots []string // of relative files of the job
}

// open opens the records of a job for a model.
func open(ctx context.Context, cfg *job.Config, o opened, e records.Evaluated) (*Model, error) {
	kept, note := o.kept, o.note
	sized := *cfg
	if e.Proves {
		e.Labelled, e.Cells = cfg.CheckLabel() == nil, true
	}
	if e.Labelled && IsBundle(kept.Path) && len(cfg.Input.RecordColumns()) > 0 {
		e.Cells = true // which a cache has not, and the graph is to have
	}
	opener := records.NewOpener(&sized, records.Options{Roots: o.roots, Notice: func(line string) { note += "\n" + line }})
	if err := opener.AdoptClasses(kept.Path, kept.Classes); err != nil {
		return nil, err
	}
	if err := opener.Adopt(ctx, kept.Path, kept.Columns); err != nil {
		return nil, err
	}
	if sized.Model.Features == 0 && opener.Plan() == nil { // the number of the training records, not of these records
		features, err := kept.features(&sized)
		if err != nil {
			return nil, err
		}
		opener.SizedBy(kept.Path, features)
	}
	s := &Model{Step: kept.Step, epoch: kept.Epoch, job: &sized, vars: kept, from: opener}
	facts, err := s.openRecords(ctx, e)
	if err != nil {
		return nil, err
	}
	if s.model, err = opener.NewModel(facts); err == nil {
		err = kept.fits(s.model.Variables()) // before their memory is allocated
	}
	if err != nil {
		return nil, errors.Join(err, s.closeData())
	}
	model.AllocateAll(s.model.Variables())
	if sized.Eval.Threshold.BestF1 {
		sized.Eval.Threshold = kept.threshold()
	}
	set, other := kernelSetOf(s.job, kept)
	s.Note = strings.Trim(note+"\n"+other, "\n")
	s.model.Use(set, cores.Own())
	return s, nil
}

// openRecords opens the records to evaluate, and returns their facts.
func (mo *Model) openRecords(ctx context.Context, e records.Evaluated) (input.Facts, error) {
	var err error
	if e.Pipe != nil {
		mo.name, _, mo.maxBad = mo.from.About(e, "")
		mo.pipe, err = mo.from.OpenPipe(e)
		return input.Facts{Features: mo.job.Model.Features}, err
	}
	mo.data, mo.split, err = mo.from.OpenEvaluated(ctx, e)
	switch {
	case e.Proves && exitcode.Of(err) == exitcode.NoInput: // requests are made up
		mo.data = nil
		return input.Facts{Features: mo.job.Model.Features, Shape: mo.vars.shape}, nil
	case err != nil:
		return input.Facts{}, err
	}
	mo.name, mo.set, mo.maxBad = mo.from.About(e, mo.split)
	return mo.data.Facts(), nil
}

// ResultOf returns the path of the result in a folder of checkpoints: the best step of a run that looks
// for it, else the folder, which means the newest. The note tells that another step is the last. A path
// of another kind is its own result.
func ResultOf(dir string) (path, note string) {
	step, path := checkpoint.BestStep(dir)
	switch {
	case step == 0:
		return dir, ""
	case path == "":
		return dir, fmt.Sprintf("the checkpoint of step %d, the best, is gone: the last step is taken", step)
	}
	return path, fmt.Sprintf("step %d is taken, the best", step)
}

// kernelSetOf returns the kernel set that a trained model computes with: train.kernels, else the set
// that trained it, else the highest set of this machine. The note gives the reason if results may
// differ from those of training.
func kernelSetOf(cfg *job.Config, kept Variables) (set kernel.Set, note string) {
	has := cfg.KernelSets()
	name := has[len(has)-1]
	switch {
	case cfg.Train.Kernels != job.Auto || kept.Kernels == "":
	case slices.Contains(has, kept.Kernels):
		name = kept.Kernels
	default:
		note = fmt.Sprintf("%s was trained with the kernels %s, which this machine does not have: with %s the last bits may differ", kept.Path, kept.Kernels, name)
	}
	set, err := kernel.ParseSet(name)
	if err != nil {
		panic("trained: a kernel set that this build offers is unknown")
	}
	return set, note
}

// Split returns the split of the job's records, or the one in whose place files were opened: "eval", "train" or "test".
func (mo *Model) Split() string { return mo.split }

// assign sets the variables to their stored values. If average is true and the model is from a
// checkpoint, it sets them to their averages. A bundle has one set of variables.
func (mo *Model) assign(average bool) error {
	vars := mo.model.Variables()
	if average && !IsBundle(mo.vars.Path) {
		var err error
		if vars, err = mo.vars.Averaged(vars); err != nil {
			return exitcode.With(exitcode.BadData, err)
		}
	}
	return mo.vars.Assign(vars)
}

// Close releases the records and ends the model's threads.
func (mo *Model) Close() error {
	mo.model.Close()
	err := mo.closeData()
	if mo.prover != nil {
		err = errors.Join(err, mo.prover.Close())
	}
	return err
}

func (mo *Model) closeData() error {
	if mo.data == nil {
		return nil
	}
	return mo.data.Close()
}

// Evaluate computes the model's metrics over the records. The scores of a bundle are those of its graph, which are compared
// with the model's: a difference beyond the bound of package proof has [exitcode.Internal].
func (mo *Model) Evaluate(ctx context.Context) (report.Metrics, error) {
	m, err := mo.evaluate(ctx, mo.name, &evaluate.Evaluator{Data: mo.data, Split: mo.split, Name: mo.set, MaxBad: mo.maxBad})
	if m.Threshold != nil {
		mo.job.Eval.Threshold = job.Threshold{Number: float64(*m.Threshold)} // of the items of input.evals, too
	}
	if p := mo.prover; err == nil && p != nil {
		err = mo.ofBundle(p.Others(p.MakeUp()))
	}
	return m, err
}

// ofBundle names the bundle in an error of its graph.
func (mo *Model) ofBundle(err error) error {
	if exitcode.Of(err) != exitcode.Internal {
		return err
	}
	return fmt.Errorf("%s: %w", mo.vars.Path, err)
}

// EvaluateOthers calls each with the metrics over the items of input.evals, in their order.
func (mo *Model) EvaluateOthers(ctx context.Context, each func(report.Metrics)) error {
	evals, err := mo.from.OpenEvals(ctx, mo.job.Model.Features)
	if err != nil {
		return err
	}
	defer records.CloseEvals(evals)
	for i, e := range evals {
		m, err := mo.evaluate(ctx, job.EvalKey(e.Files.Name, i), &evaluate.Evaluator{Data: e.Data, Split: "eval", Name: e.Files.Name})
		if err != nil {
			return err
		}
		each(m)
	}
	return nil
}

// evaluate runs e, of the records of a set, with the model, and warns of what none of the records has.
func (mo *Model) evaluate(ctx context.Context, set string, e *evaluate.Evaluator) (report.Metrics, error) {
	if IsBundle(mo.vars.Path) {
		if err := mo.openProver(); err != nil {
			return report.Metrics{}, err
		}
		e.Data, e.Answers = mo.prover.Records(e.Data, e.Data.Facts().Records), mo.prover.Answers
	}
	m, err := mo.run(ctx, e)
	if err = mo.ofBundle(err); err == nil {
		mo.warnings = append(mo.warnings, mo.from.Warnings(set, &e.Seen, false)...)
	}
	return m, err
}

// openProver opens the graph of the bundle.
func (mo *Model) openProver() (err error) {
	if mo.prover == nil {
		mo.prover, err = proof.Open(mo.vars.Path, proof.Subject{Model: mo.model, Plan: mo.from.Plan(), Names: featureNames(mo.job)})
	}
	return err
}

// run runs e with the model.
func (mo *Model) run(ctx context.Context, e *evaluate.Evaluator) (report.Metrics, error) {
	if err := mo.assign(mo.job.Train.Average.Evaluate); err != nil {
		return report.Metrics{}, err
	}
	e.Model, e.TopK = mo.model, mo.job.Eval.TopK
	e.Threshold, e.BestF1 = mo.job.Eval.Threshold.Number, mo.job.Eval.Threshold.BestF1
	metrics, err := alone(ctx, e)
	metrics.Step, metrics.Epoch = mo.Step, mo.epoch
	return metrics, err
}

// Warnings returns what none of the records has that were evaluated or predicted, and what they write otherwise than those of
// training.
func (mo *Model) Warnings() []report.Warning { return append(mo.warnings, mo.from.Strange()...) }

// Export writes a serving bundle of the model to base, the folder of --to, or if that is "", to the
// job's. Warn receives warnings, which end nothing.
func (mo *Model) Export(ctx context.Context, base string, warn func(operation, text string)) (report.Exported, error) {
	cfg, key := *mo.job, "export.savedmodel"
	if base != "" {
		cfg.Export.SavedModel, key = base, "--to"
	}
	if text := bundle.PatternWarning(key, cfg.Export.SavedModel); text != "" {
		warn("export", text)
	}
	if cfg.Export.SavedModel == "" {
		return report.Exported{}, exitcode.With(exitcode.Usage, errors.New("--to is empty and the job has no export.savedmodel"))
	}
	if err := mo.assign(cfg.Train.Average.Export); err != nil {
		return report.Exported{}, err
	}
	x := Exporter{Job: &cfg, Key: key, Model: mo.model, Proving: mo.proving, Tolerate: mo.maxBad > 0, Evaluated: mo.vars.Evaluation, Disk: bundle.NewDisk(bundle.OS, func(err error) { warn("clean-up", err.Error()) })}
	if text := x.Other(); text != "" {
		warn("export", key+": "+text)
	}
	return x.Write(ctx, mo.Step)
}

// proving returns the records that were opened to prove an export.
func (mo *Model) proving(context.Context) (records.Proving, error) {
	return records.Proving{Data: mo.data, Split: mo.split, Plan: mo.from.Plan()}, nil
}
