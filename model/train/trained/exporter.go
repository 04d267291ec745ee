package trained

import (
	"context"
	"fmt"
	"math"

	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/export/savedmodel"
	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/tensor"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// maxVerified bounds the number of records that verify an export.
const maxVerified = 1000

// readBack describes the verification: the variables are read back; the graph is not run.
const readBack = "variables read back"

// Exporter writes the serving bundle of a model with its current values.
type Exporter struct {
	Job      *job.Config // for export.savedmodel and the names of features
	Key      string      // that names the folder in errors: export.savedmodel, or --to
	Model    *model.Model
	Data     input.Dataset // records that verify the export
	Tolerate bool          // bad records do not verify, and are no error

	Held      func() error           // returns an error if this process may no longer write for the job; may be nil
	Evaluated *checkpoint.Evaluation // of the model; nil if it is unknown
	Disk      *bundle.Disk           // to which Write writes
}

// Write writes the next version of the bundle. Before it publishes the version it reads the variables
// back and predicts up to maxVerified records with them. The scores must equal those of the live model
// bit for bit. A model that export.if does not allow is an error with [exitcode.NotFinite]. When ctx
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
	e := report.Exported{Step: step, Format: "savedmodel", How: readBack}
	verify := func(dir string) error {
		var err error
		e.Verified, e.MaxDifference, err = ex.verify(ctx, dir)
		if err == nil && ex.Held != nil { // a rank 0 that was paused may have a successor, which exports
			err = ex.Held()
		}
		return err
	}
	t := savedmodel.Trained{Job: ex.Job.Name, Names: featureNames(ex.Job), Step: step}
	cfg := *ex.Job
	if found := ex.Evaluated; cfg.Eval.Threshold.BestF1 && found != nil && found.Threshold != nil {
		cfg.Eval.Threshold = job.Threshold{Number: *found.Threshold}
	}
	var err error
	if t.JobFile, err = cfg.File(); err != nil {
		return report.Exported{}, exitcode.With(exitcode.Internal, err)
	}
	for _, v := range ex.Model.Variables() {
		t.Variables = append(t.Variables, savedmodel.Variable{Name: v.Name, Shape: v.Shape, Value: v.Value})
	}
	base := ex.Job.Export.SavedModel
	if e.Path, err = savedmodel.Write(ex.Disk, base, ex.Model.Graph(), t, verify); err != nil {
		return report.Exported{}, fmt.Errorf("%s: %w", ex.Key, err)
	}
	if keep := ex.Job.Export.Keep; keep > 0 {
		savedmodel.Prune(ex.Disk, base, keep)
	}
	return e, nil
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

// verify predicts records with the variables of the bundle in dir. It returns the number of records and
// the largest difference of their scores from the live model's. A difference is an error.
func (ex Exporter) verify(ctx context.Context, dir string) (verified int, worst report.Number, err error) {
	exported := model.New(ex.Model.Graph())
	defer exported.Close()
	exported.Use(ex.Model.Engine().Set(), 1) // another set may round products differently
	model.AllocateAll(exported.Variables())
	kept, err := Read(dir)
	if err != nil {
		return 0, 0, err
	}
	var others []*model.Variable
	for i, v := range exported.Variables() {
		if live := ex.Model.Variables()[i]; v.ByRows && kept.holds(live) {
			v.Value = live.Value // saves the memory of a second table
		} else {
			others = append(others, v)
		}
	}
	if err := kept.Assign(others); err != nil {
		return 0, 0, err
	}
	records := min(ex.Data.Facts().Records, maxVerified)
	var b input.Batch
	err = input.EachBlock(ctx, &b, ex.Data, records, ex.Tolerate, func(int) error {
		verified += len(b.Y)
		if len(b.Y) > 0 {
			worst = max(worst, report.Number(difference(ex.Model, exported, &b.X)))
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	if worst != 0 {
		err = exitcode.With(exitcode.Internal,
			fmt.Errorf("%s: predictions of the exported variables differ by up to %g from the model's, want 0", dir, worst))
	}
	return verified, worst, err
}

// difference returns the largest absolute difference of the two models' scores. A score that is NaN in
// one model only is an infinite difference; a score that is NaN in both is none.
func difference(a, b *model.Model, x *tensor.Features) float64 {
	worst := 0.0
	sa, sb := a.Predict(x).Data, b.Predict(x).Data
	for i := range sa {
		p, q := float64(sa[i]), float64(sb[i])
		switch {
		case math.IsNaN(p) != math.IsNaN(q):
			return math.Inf(1)
		case p != q && !math.IsNaN(p):
			worst = max(worst, math.Abs(p-q))
		}
	}
	return worst
}
