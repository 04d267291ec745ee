package trained

import (
	"context"
	"fmt"

	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/export/savedmodel"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/tensor"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// Exporter writes the serving bundle of a model with its current values.
type Exporter struct {
	Job      *job.Config // for export.savedmodel and the names of features
	Key      string      // that names the folder in errors: export.savedmodel, or --to
	Model    *model.Model
	Tolerate bool // bad records prove nothing, and are no error

	// Proving opens the records that prove the export. Its plan is nobody else's.
	Proving func(ctx context.Context) (records.Proving, error)

	Held      func() error           // returns an error if this process may no longer write for the job; may be nil
	Evaluated *checkpoint.Evaluation // of the model; nil if it is unknown
	Disk      *bundle.Disk           // to which Write writes
}

// Write writes the next version of the bundle. Before it publishes the version it runs the graph of the
// bundle and compares its answers with the model's: see package proof. A difference beyond the bound has
// [exitcode.Internal]. A model that export.if does not allow is an error with [exitcode.NotFinite]. When ctx
// ends, Write returns the cause and publishes nothing.
func (ex Exporter) Write(ctx context.Context, step int64) (report.Exported, error) {
	if ctx.Err() != nil {
		return report.Exported{}, context.Cause(ctx)
	}
	if err := ex.sound(step); err != nil {
		return report.Exported{}, exitcode.With(exitcode.NotFinite, err)
	}
	if err := savedmodel.CheckColumns(ex.Model.Graph().Columns); err != nil {
		return report.Exported{}, ex.Job.Locate(err)
	}
	t, err := ex.content(step)
	if err != nil {
		return report.Exported{}, err
	}
	var p savedmodel.Proof
	var refused error // by what proves it
	base := ex.Job.Export.SavedModel
	path, err := savedmodel.Write(ex.Disk, base, ex.Model.Graph(), t, func(dir string) (savedmodel.Extra, error) {
		var extra savedmodel.Extra
		p, extra, refused = ex.prove(ctx, dir, step)
		if refused == nil && ex.Held != nil { // a rank 0 that was paused may have a successor, which exports
			refused = ex.Held()
		}
		return extra, refused
	})
	switch {
	case refused != nil && exitcode.Of(refused) == exitcode.Internal:
		return report.Exported{}, fmt.Errorf("export: %w; no version is written", refused)
	case err != nil:
		return report.Exported{}, fmt.Errorf("%s: %w", ex.Key, err)
	}
	if keep := ex.Job.Export.Keep; keep > 0 {
		savedmodel.Prune(ex.Disk, base, keep)
	}
	return report.Exported{
		Step: step, Path: path, Format: "savedmodel", How: "graph run",
		Verified: p.Records, Of: p.Of, MadeUp: p.MadeUp, MaxDifference: p.MaxDifference, Metric: p.Metric,
	}, nil
}

// content returns what a version has besides the graph.
func (ex Exporter) content(step int64) (savedmodel.Trained, error) {
	t := savedmodel.Trained{Job: ex.Job.Name, Names: featureNames(ex.Job), Step: step}
	cfg := *ex.Job
	if found := ex.Evaluated; cfg.Eval.Threshold.BestF1 && found != nil && found.Threshold != nil {
		cfg.Eval.Threshold = job.Threshold{Number: *found.Threshold}
	}
	var err error
	if t.JobFile, err = cfg.File(); err != nil {
		return t, exitcode.With(exitcode.Internal, err)
	}
	for _, v := range ex.Model.Variables() {
		t.Variables = append(t.Variables, savedmodel.Variable{Name: v.Name, Shape: v.Shape, Value: v.Value})
	}
	return t, nil
}

// Other tells what the newest version in the folder has otherwise than this job's, "" for nothing: a
// server may take the next one for it.
func (ex Exporter) Other() string {
	return savedmodel.Other(ex.Job.Export.SavedModel, ex.Model.Graph(), savedmodel.Trained{Job: ex.Job.Name, Names: featureNames(ex.Job)})
}

// maxLoss is the largest loss of a sound model, in losses of a constant prediction.
const maxLoss = 2

// sound returns an error if export.if wants a sound model and this one has diverged.
func (ex Exporter) sound(step int64) error {
	guard := ex.Job.Export.If
	if guard.IsAlways() {
		return nil
	}
	why := ""
	if e := ex.Evaluated; e != nil && e.Constant > 0 && !(e.Loss <= maxLoss*e.Constant) {
		why = fmt.Sprintf("its loss is %.6g, more than twice that of a constant prediction, %.6g", e.Loss, e.Constant)
	}
	for _, v := range ex.Model.Variables() {
		if !tensor.Finite(v.Value) {
			why = fmt.Sprintf("variable %s is not finite", v.Name)
		}
	}
	if why == "" {
		return guard.Allows(ex.Evaluated.Metric)
	}
	return fmt.Errorf("%s: the model of step %d is not exported: %s; train longer, or with a smaller optimizer.learning_rate, or export it all the same with export.if=always", ex.Key, step, why)
}

// featureNames returns the names by which serving clients give features in a tf.Example: those of the
// training records, if these have names.
func featureNames(j *job.Config) savedmodel.Names {
	n := savedmodel.DefaultNames()
	f := j.Input.Train // other formats have none of these keys
	if f.IDs != "" {
		n.IDs = f.IDs
	}
	if f.Values != "" {
		n.Values, n.Dense = f.Values, f.Values
	}
	return n
}
