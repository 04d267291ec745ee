package trained

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/export/savedmodel"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// Variables are the tensors of a checkpoint or a serving bundle, with the facts that it stores about
// them.
type Variables struct {
	Path    string
	Step    int64          // of a bundle, if the bundle stores it
	Epoch   int64          // 0 if unknown
	Kernels string         // kernel set that trained the model; "" if unknown
	shape   []int          // of the model's input; nil if it is unknown
	width   int            // number of features of the model's input; 0 if unknown
	Columns *graph.Columns // of the records; nil without input.columns
	Classes []string       // names; nil: unknown, or none
	jobFile []byte         // a copy of the job, in file form; nil: none
	tensors map[string]bundle.Tensor

	Evaluation *checkpoint.Evaluation // nil if it is unknown
}

// Read reads the checkpoint or bundle at path.
func Read(path string) (Variables, error) {
	if IsBundle(path) {
		b, err := savedmodel.Read(path)
		kept := NewVariables(b.Path, b.Step, 0, b.Variables)
		kept.width, kept.Columns, kept.Classes, kept.jobFile = widthOf(b.Signatures), b.Columns, b.Classes, b.JobFile
		return kept, err
	}
	if err := wantPath(path); err != nil {
		return Variables{}, err
	}
	s, err := checkpoint.Load(path)
	kept := NewVariables(path, s.Step, s.Run.Position.LastEpoch(), s.Tensors)
	kept.Kernels, kept.Columns, kept.Classes, kept.Evaluation = s.Run.Kernels, s.Run.Columns, s.Run.Classes, s.Evaluation
	kept.jobFile = []byte(s.Run.JobFile)
	kept.shape = s.Run.Shape
	if len(s.Run.Shape) > 0 {
		kept.width = graph.Shape(s.Run.Shape).Len()
	}
	return kept, err
}

// threshold returns the threshold of the best F1 that was found: in the evaluation of a checkpoint, or in the job file of a
// bundle. It is still to be found if neither has it.
func (va Variables) threshold() job.Threshold {
	if e := va.Evaluation; e != nil && e.Threshold != nil {
		return job.Threshold{Number: *e.Threshold}
	}
	if cfg, err := job.Parse(va.Path, va.jobFile); err == nil && cfg != nil && va.Evaluation == nil {
		return cfg.Eval.Threshold
	}
	return job.Threshold{Number: 0.5, BestF1: true}
}

// widthOf returns the number of columns of the dense input in a bundle's signatures, 0 without one.
func widthOf(all []savedmodel.Signature) int {
	for _, s := range all {
		for _, in := range s.Inputs {
			if in.DType == bundle.DTFloat32 && len(in.Shape) == 2 && in.Shape[1] > 0 {
				return int(in.Shape[1])
			}
		}
	}
	return 0
}

// wantPath returns an error if path is neither a file or a folder nor the prefix of a checkpoint.
func wantPath(path string) error {
	for _, name := range []string{path, path + ".index"} {
		if _, err := os.Stat(name); err == nil {
			return nil
		}
	}
	return exitcode.With(exitcode.NoInput, fmt.Errorf("no checkpoint or bundle at %s", path))
}

func NewVariables(path string, step, epoch int64, tensors []bundle.Tensor) Variables {
	s := Variables{Path: path, Step: step, Epoch: epoch, tensors: make(map[string]bundle.Tensor, len(tensors))}
	for _, t := range tensors {
		s.tensors[t.Name] = t
	}
	return s
}

// Tensor returns the tensor called name and reports whether there is one.
func (va Variables) Tensor(name string) (bundle.Tensor, bool) {
	t, ok := va.tensors[name]
	return t, ok
}

// Assign copies the tensors into the values of vars with the same names. Its errors are those of fits.
func (va Variables) Assign(vars []*model.Variable) error {
	if err := va.fits(vars); err != nil {
		return err
	}
	for _, v := range vars {
		if err := va.tensors[v.Name].Decode(v.Value); err != nil {
			return va.bad("%w", err)
		}
	}
	return nil
}

// fits returns an error with exitcode.BadData for a variable without a tensor, or with a tensor of
// another shape. The variables need no values.
func (va Variables) fits(vars []*model.Variable) error {
	for _, v := range vars {
		t, ok := va.tensors[v.Name]
		if !ok {
			return va.lacks(v.Name)
		}
		if !sameShape(t.Shape, v.Shape) {
			return va.bad("%s has shape %v, want %v%s", v.Name, t.Shape, v.Shape, shapeKey(v, t.Shape))
		}
	}
	return nil
}

// lacks returns the error for a tensor that is not there. A model that has read pairs as numbers has a kernel in the place
// of the rows for ids.
func (va Variables) lacks(name string) error {
	layer, ofIDs := strings.CutSuffix(name, "/weights")
	for _, kernel := range []string{layer + "/kernel", "softmax/kernel"} {
		if t, ok := va.tensors[kernel]; ofIDs && ok && len(t.Shape) == 2 {
			return va.bad("no tensor %s but %s: its records are numbers, want input.shape: [%d]", name, kernel, t.Shape[0])
		}
	}
	return va.bad("no tensor %s", name)
}

// shapeKey names the key that gives v its shape, which is not was; "" if it is not known.
func shapeKey(v *model.Variable, was []int64) string {
	switch rows := len(v.Shape) == 2 && len(was) == 2 && int64(v.Shape[0]) != was[0]; {
	case rows && v.ByRows:
		return " for the ids of input.columns, or of model.features"
	case strings.HasPrefix(v.Name, "embedding/"):
		return " as model.embedding says"
	case strings.Contains(v.Name, "hidden_"):
		return " as model.hidden says"
	}
	return ""
}

func (va Variables) bad(format string, args ...any) error {
	return exitcode.With(exitcode.BadData, fmt.Errorf("%s: %w", va.Path, fmt.Errorf(format, args...)))
}

func sameShape(a []int64, b []int) bool {
	return slices.EqualFunc(a, b, func(x int64, y int) bool { return x == int64(y) })
}

// features returns the number of features of the job's model. If va does not store it, it is the number
// of rows of the model's first variable. It is 0 if the variables do not determine it, as for a
// convolution.
func (va Variables) features(cfg *job.Config) (int, error) {
	g, err := cfg.Model.GraphOf(cfg.Inputs(graph.Shape{1}), cfg.Loss)
	if err != nil {
		if cfg.Model.Check(cfg.Loss) == nil {
			return va.width, nil // the model reads images
		}
		return 0, err
	}
	name := g.Variables()[0].Name
	t, ok := va.tensors[name]
	switch {
	case !ok:
		return 0, va.lacks(name)
	case va.width > 0:
		return va.width, nil
	case len(t.Shape) == 0 || t.Shape[0] < 1 || t.Shape[0] > int64(len(t.Data)): // [1<<40, 0] has no elements
		return 0, va.bad("tensor %s has shape %v, want a row for each feature", name, t.Shape)
	}
	return int(t.Shape[0]), nil
}

// IsSaved reports whether path is a folder, or the prefix of a checkpoint: a checkpoint or a bundle may be there.
func IsSaved(path string) bool {
	if info, err := os.Stat(path); err == nil {
		return info.IsDir()
	}
	_, err := os.Stat(path + ".index")
	return err == nil
}

// HasModel reports whether path is a bundle, a checkpoint, or a folder of checkpoints, and no folder of records.
func HasModel(path string) bool {
	found, _ := filepath.Glob(filepath.Join(path, "*.index")) // of a path that is no pattern
	for _, name := range []string{path + ".index", filepath.Join(path, "checkpoint")} {
		if _, err := os.Stat(name); err == nil {
			found = append(found, name)
		}
	}
	return len(found) > 0 || IsBundle(path)
}

// IsBundle reports whether path is a serving bundle: a version folder, or a base folder with one.
func IsBundle(path string) bool {
	if isVersion(path) {
		return true
	}
	entries, _ := os.ReadDir(path) // a folder that cannot be read is no bundle
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		_, err := strconv.ParseUint(e.Name(), 10, 63)
		return err == nil && isVersion(filepath.Join(path, e.Name()))
	})
}

// isVersion reports whether path is a version folder of a bundle.
func isVersion(path string) bool {
	_, err := os.Stat(filepath.Join(path, "saved_model.pb"))
	return err == nil
}

// AverageSuffix follows the name of a variable in the name of its average, as in TensorFlow's
// checkpoints.
const AverageSuffix = "/ExponentialMovingAverage"

// Averaged returns vars with the names of their averages in va. They share their values with vars.
func (va Variables) Averaged(vars []*model.Variable) ([]*model.Variable, error) {
	var renamed []*model.Variable
	for _, v := range vars {
		if _, ok := va.tensors[v.Name+AverageSuffix]; !ok {
			return nil, fmt.Errorf("%s: no tensor %s, which train.average asks for", va.Path, v.Name+AverageSuffix)
		}
		renamed = append(renamed, &model.Variable{Name: v.Name + AverageSuffix, Shape: v.Shape, Value: v.Value})
	}
	return renamed, nil
}
