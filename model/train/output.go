package train

import (
	"context"
	"fmt"
	"math"
	"time"

	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/export/savedmodel"
	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/tensor"
	"ringtrain/ring/exitcode"
)

// checkOutputs finds out before training whether checkpoints and exports can
// be written.
func (r *run) checkOutputs() error {
	if dir := r.job.Checkpoint.Dir; dir != "" {
		if err := checkpoint.Check(bundle.OS, dir); err != nil {
			return fmt.Errorf("checkpoint.dir: %w", err)
		}
	}
	if base := r.job.Export.SavedModel; base != "" {
		if err := savedmodel.Check(base); err != nil {
			return fmt.Errorf("export.savedmodel: %w", err)
		}
	}
	return nil
}

// checkpoint compares the replicas, which is collective, and has rank 0 save
// the state. It returns the digest of the variables.
func (r *run) checkpoint(ctx context.Context, finished bool) (string, error) {
	start := time.Now()
	r.team.Progress(r.loop.Step, "checkpoint")
	digest, err := compareReplicas(ctx, r.team.Group, r.model.Variables(), r.loop.Step)
	if err != nil {
		return "", err
	}
	if r.rank != 0 || r.job.Checkpoint.Dir == "" {
		return digest, nil
	}
	saved, err := checkpoint.Save(bundle.OS, r.job.Checkpoint.Dir, r.checkpointState(finished), r.job.Checkpoint.Keep)
	if err != nil {
		return "", err
	}
	took := Seconds(time.Since(start))
	r.savedAt = time.Now()
	r.emit(Checkpointed{Step: saved.Step, Path: saved.Path, Bytes: saved.Bytes, Took: took, Stalled: took})
	return digest, nil
}

func (r *run) checkpointState(finished bool) checkpoint.State {
	var tensors []bundle.Tensor
	for _, v := range r.model.Variables() {
		tensors = append(tensors, bundle.Float32(v.Name, v.Shape, v.Value))
	}
	for _, s := range r.loop.Optimizer.Slots() {
		tensors = append(tensors, bundle.Float32(s.Name, s.Shape, s.Value))
	}
	options := map[string]string{}
	for _, o := range r.agreedOptions() {
		options[o.Key] = o.Value
	}
	return checkpoint.State{
		Step: r.loop.Step, Tensors: tensors,
		Run: checkpoint.Run{
			Seed: r.job.Train.Seed, Position: r.loop.Source.Position(), Steps: r.steps,
			Options: options, Finished: finished,
		},
	}
}

// maxVerified bounds the records that an export is verified with.
const maxVerified = 1000

// writeExport writes the serving bundle of the model as it is. Before the
// bundle counts, its variables are read back and predict up to maxVerified
// records: they must give the scores of the live model to the bit.
func writeExport(job *Job, m *model.Model, loss model.Loss, data input.Dataset, step int64) (Exported, error) {
	e := Exported{Step: step, Format: "savedmodel"}
	verify := func(dir string) error {
		var err error
		e.Verified, e.MaxDifference, err = verifyExport(dir, job, m, loss, data)
		return err
	}
	vars := make([]savedmodel.Variable, 0, len(m.Variables()))
	for _, v := range m.Variables() {
		vars = append(vars, savedmodel.Variable{Name: v.Name, Shape: v.Shape, Value: v.Value})
	}
	w, err := savedmodel.Write(job.Export.SavedModel, m.Description(), vars, job.featureNames(), verify)
	e.Path = w.Path
	return e, err
}

// featureNames are the names by which serving clients give features in a
// tf.Example: those of the training records, where these have names.
func (j *Job) featureNames() savedmodel.Names {
	n := savedmodel.DefaultNames()
	f := j.Input.Train
	if f.Format != "tfrecord" {
		return n
	}
	if f.IDs != "" {
		n.IDs = f.IDs
	}
	if f.Values != "" {
		n.Values, n.Dense = f.Values, f.Values
	}
	return n
}

// verifyExport compares the predictions of the bundle's variables with the
// live model's.
func verifyExport(dir string, job *Job, live *model.Model, loss model.Loss, data input.Dataset) (int, Number, error) {
	c := job.Model
	c.Features = live.Description().Features
	copied, err := model.New(c, loss)
	if err != nil {
		return 0, 0, err
	}
	bindValues(copied.Variables())
	if _, err := assignFrom(dir, copied.Variables()); err != nil {
		return 0, 0, err
	}
	n := min(data.Len(), maxVerified)
	var b input.Batch
	worst := 0.0
	for i := range n {
		if err := data.Append(&b, i); err != nil {
			return 0, 0, err
		}
		if b.X.Rows() == input.EvalBlock || i == n-1 {
			worst = max(worst, difference(live, copied, &b.X))
			b.Reset()
		}
	}
	if worst != 0 {
		return n, Number(worst), exitcode.With(exitcode.Internal,
			fmt.Errorf("%s: predictions of the exported variables differ by up to %g from the model's, want 0", dir, worst))
	}
	return n, 0, nil
}

// difference is the largest absolute difference of the two models' scores;
// scores that are NaN in one of them only differ infinitely.
func difference(a, b *model.Model, x *tensor.Features) float64 {
	worst := 0.0
	sa, sb := a.Predict(x), b.Predict(x)
	for i := range sa.Data {
		switch d := math.Abs(float64(sa.Data[i]) - float64(sb.Data[i])); {
		case sa.Data[i] == sb.Data[i] || sa.Data[i] != sa.Data[i] && sb.Data[i] != sb.Data[i]:
		case math.IsNaN(d):
			worst = math.Inf(1)
		default:
			worst = max(worst, d)
		}
	}
	return worst
}
