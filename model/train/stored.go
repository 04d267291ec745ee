package train

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/export/savedmodel"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// stored is what a checkpoint or a serving bundle holds.
type stored struct {
	path    string
	step    int64 // of a bundle, where it says so
	epoch   int64 // likewise; 0: it does not say
	tensors map[string]bundle.Tensor
}

// readStored reads the checkpoint or bundle at path.
func readStored(path string) (stored, error) {
	if IsBundle(path) {
		b, err := savedmodel.Read(path)
		return newStored(b.Path, b.Step, 0, b.Variables), err
	}
	if !exists(path) && !exists(path+".index") {
		return stored{}, exitcode.With(exitcode.NoInput, fmt.Errorf("no checkpoint or bundle at %s", path))
	}
	s, err := checkpoint.Load(path)
	return newStored(path, s.Step, epochOf(s.Run.Position), s.Tensors), err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func newStored(path string, step, epoch int64, tensors []bundle.Tensor) stored {
	s := stored{path, step, epoch, make(map[string]bundle.Tensor, len(tensors))}
	for _, t := range tensors {
		s.tensors[t.Name] = t
	}
	return s
}

// assign copies the tensors that vars name into their values. One that is
// missing or of another type or shape is an error with exitcode.BadData.
func (s stored) assign(vars []*model.Variable) error {
	bad := func(format string, args ...any) error {
		return exitcode.With(exitcode.BadData, fmt.Errorf("%s: %w", s.path, fmt.Errorf(format, args...)))
	}
	for _, v := range vars {
		t, ok := s.tensors[v.Name]
		if !ok {
			return bad("no tensor %s", v.Name)
		}
		values, err := t.Float32s()
		if err != nil {
			return bad("%w", err)
		}
		if !sameShape(t.Shape, v.Shape) {
			return bad("%s has shape %v, want %v", v.Name, t.Shape, v.Shape)
		}
		copy(v.Value, values)
	}
	return nil
}

func sameShape(a []int64, b []int) bool {
	return slices.EqualFunc(a, b, func(x int64, y int) bool { return x == int64(y) })
}

// features is the number of features of the job's model as it was stored: the
// rows of its first variable. It is 0 for a model whose variables do not say it, as those of
// a convolution do not.
func (s stored) features(job *Job) (int, error) {
	g, err := job.Model.Graph(graph.Shape{1}, job.Loss)
	if err != nil {
		if job.Model.Check(job.Loss) == nil {
			return 0, nil // it wants an image
		}
		return 0, err
	}
	name := g.Variables()[0].Name
	t, ok := s.tensors[name]
	// A shape proves nothing without its elements: [1<<40, 0] has none.
	if !ok || len(t.Shape) == 0 || t.Shape[0] < 1 || t.Shape[0] > int64(len(t.Data)) {
		return 0, exitcode.With(exitcode.BadData, fmt.Errorf("%s: no tensor %s with a row for each feature", s.path, name))
	}
	return int(t.Shape[0]), nil
}

// IsBundle tells whether path is a serving bundle: a version folder, or a base
// that has one.
func IsBundle(path string) bool {
	if isVersion(path) {
		return true
	}
	entries, _ := os.ReadDir(path) // what cannot be read is no bundle
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		_, err := strconv.ParseUint(e.Name(), 10, 63)
		return err == nil && isVersion(filepath.Join(path, e.Name()))
	})
}

// isVersion tells whether path is a version folder of a bundle.
func isVersion(path string) bool {
	_, err := os.Stat(filepath.Join(path, "saved_model.pb"))
	return err == nil
}
