package train

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"ringtrain/export/checkpoint"
	"ringtrain/export/savedmodel"
	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// Saved is a trained model read from a checkpoint or a bundle, with the records
// that it is to be tried on.
type Saved struct {
	Step  int64 // of the checkpoint; of a bundle, where it says so
	job   *Job
	loss  model.Loss
	model *model.Model
	data  input.Dataset
	split string
}

// OpenSaved reads the variables at from (the job's checkpoint.dir if that is
// empty), and opens the job's validation records, or files in their place.
func OpenSaved(job *Job, roots []string, from string, files []string) (*Saved, error) {
	if from == "" {
		from = job.Checkpoint.Dir
	}
	if from == "" {
		return nil, exitcode.With(exitcode.Usage, errors.New("--from is empty and the job has no checkpoint.dir"))
	}
	s := &Saved{job: job}
	if err := s.openData(roots, files); err != nil {
		return nil, err
	}
	var err error
	if s.model, s.loss, err = job.newModel(s.data); err != nil {
		s.data.Close()
		return nil, err
	}
	bindValues(s.model.Variables())
	if s.Step, err = assignFrom(from, s.model.Variables()); err != nil {
		s.data.Close()
		return nil, err
	}
	return s, nil
}

// openData opens files, or the validation records, or the training records
// where the job has no others.
func (s *Saved) openData(roots []string, files []string) error {
	if s.job.Input.Synthetic && len(files) == 0 {
		d, err := drawDatasets(s.job)
		s.data, s.split = d.eval, d.split
		return err
	}
	f, err := s.job.Input.Eval, error(nil)
	s.split = "eval"
	if f.Format == "" {
		f, s.split = s.job.Input.Train, "train"
	}
	if len(files) > 0 {
		f, err = f.replaced(files)
		roots = []string{"."}
	}
	if err != nil {
		return err
	}
	s.data, err = openFiles(s.job, f, s.job.Model.Features, roots)
	return adviseOnMissing(s.job, err)
}

// replaced is f with other files.
func (f Files) replaced(files []string) (Files, error) {
	switch {
	case f.Format != "idx":
		f.Files = files
	case len(files) == 1:
		f.Images, f.Labels = files[0], ""
	case len(files) == 2:
		f.Images, f.Labels = files[0], files[1]
	default:
		return f, exitcode.With(exitcode.Usage, fmt.Errorf("%d files, want images, or images and labels", len(files)))
	}
	return f, nil
}

// Close releases the records.
func (s *Saved) Close() error { return s.data.Close() }

// Evaluate computes the model's metrics over the records.
func (s *Saved) Evaluate(ctx context.Context) (Metrics, error) {
	m := ring.Membership{Generation: 1, Workers: []ring.Worker{{}}}
	g, err := ring.New(ctx, m, nil, ring.DefaultConfig())
	if err != nil {
		return Metrics{}, err
	}
	defer g.Close()
	e := Evaluator{Model: s.model, Data: s.data, Split: s.split}
	metrics, err := e.Run(ctx, g)
	metrics.Step = s.Step
	return metrics, err
}

// Prediction is what a model says of one record.
type Prediction struct {
	Record int       `json:"record"`
	Scores []float32 `json:"scores"`
}

// Kind names the event.
func (Prediction) Kind() string { return "prediction" }

// Predict calls each with the scores of every record, in order. The scores are
// valid during the call only.
func (s *Saved) Predict(ctx context.Context, each func(Prediction) error) error {
	var b input.Batch
	for first := 0; first < s.data.Len(); first += input.EvalBlock {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := readBlock(&b, s.data, first); err != nil {
			return err
		}
		scores := s.model.Predict(&b.X)
		for i := range scores.Rows {
			if err := each(Prediction{first + i, scores.Row(i)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Export writes a serving bundle of the model to base.
func (s *Saved) Export(base string) (Exported, error) {
	job := *s.job
	if base != "" {
		job.Export.SavedModel = base
	}
	if job.Export.SavedModel == "" {
		return Exported{}, exitcode.With(exitcode.Usage, errors.New("--to is empty and the job has no export.savedmodel"))
	}
	return writeExport(&job, s.model, s.loss, s.data, s.Step)
}

// assignFrom copies the variables of the checkpoint or bundle at path into
// vars and returns its step.
func assignFrom(path string, vars []*model.Variable) (int64, error) {
	if IsBundle(path) {
		b, err := savedmodel.Read(path)
		if err != nil {
			return 0, err
		}
		return b.Step, assign(b.Path, b.Variables, vars)
	}
	s, err := checkpoint.Load(path)
	if err != nil {
		return 0, err
	}
	return s.Step, assign(path, s.Tensors, vars)
}

// IsBundle tells whether path is a serving bundle: a version folder, or a base
// that has one.
func IsBundle(path string) bool {
	if _, err := os.Stat(filepath.Join(path, "saved_model.pb")); err == nil {
		return true
	}
	entries, err := fs.ReadDir(os.DirFS(path), ".")
	if err != nil {
		return false
	}
	for _, e := range entries {
		if _, err := strconv.ParseUint(e.Name(), 10, 63); err == nil && e.IsDir() && IsBundle(filepath.Join(path, e.Name())) {
			return true
		}
	}
	return false
}
