package train

import (
	"bytes"
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
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// stored is what a checkpoint or a serving bundle holds.
type stored struct {
	path    string
	step    int64          // of a bundle, where it says so
	epoch   int64          // likewise; 0: it does not say
	kernels string         // kernel set that trained it; "" where it does not say
	width   int            // features of the model's input; 0 where it does not say
	columns *graph.Columns // of the records; nil without input.columns
	tensors map[string]bundle.Tensor
}

// readStored reads the checkpoint or bundle at path.
func readStored(path string) (stored, error) {
	if IsBundle(path) {
		b, err := savedmodel.Read(path)
		kept := newStored(b.Path, b.Step, 0, b.Variables)
		kept.width, kept.columns = widthOf(b.Signatures), b.Columns
		return kept, err
	}
	if !exists(path) && !exists(path+".index") {
		return stored{}, exitcode.With(exitcode.NoInput, fmt.Errorf("no checkpoint or bundle at %s", path))
	}
	s, err := checkpoint.Load(path)
	kept := newStored(path, s.Step, epochOf(s.Run.Position), s.Tensors)
	kept.kernels, kept.columns = s.Run.Kernels, s.Run.Columns
	if len(s.Run.Shape) > 0 {
		kept.width = graph.Shape(s.Run.Shape).Len()
	}
	return kept, err
}

// widthOf is the number of columns of the dense input that a bundle's signatures name.
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

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func newStored(path string, step, epoch int64, tensors []bundle.Tensor) stored {
	s := stored{path: path, step: step, epoch: epoch, tensors: make(map[string]bundle.Tensor, len(tensors))}
	for _, t := range tensors {
		s.tensors[t.Name] = t
	}
	return s
}

// assign copies the tensors that vars name into their values. Its errors are those of fits.
func (s stored) assign(vars []*model.Variable) error {
	if err := s.fits(vars); err != nil {
		return err
	}
	for _, v := range vars {
		if err := s.tensors[v.Name].Decode(v.Value); err != nil {
			return s.bad("%w", err)
		}
	}
	return nil
}

// holds reports whether s has the very bytes of v.
func (s stored) holds(v *model.Variable) bool {
	t, ok := s.tensors[v.Name]
	return ok && t.DType == bundle.DTFloat32 && sameShape(t.Shape, v.Shape) && bytes.Equal(t.Data, bytesOf(v.Value))
}

// fits returns an error with exitcode.BadData for a variable that s has not, or has in
// another shape. The variables need no values.
func (s stored) fits(vars []*model.Variable) error {
	for _, v := range vars {
		t, ok := s.tensors[v.Name]
		if !ok {
			return s.bad("no tensor %s", v.Name)
		}
		if !sameShape(t.Shape, v.Shape) {
			return s.bad("%s has shape %v, want %v", v.Name, t.Shape, v.Shape)
		}
	}
	return nil
}

func (s stored) bad(format string, args ...any) error {
	return exitcode.With(exitcode.BadData, fmt.Errorf("%s: %w", s.path, fmt.Errorf(format, args...)))
}

func sameShape(a []int64, b []int) bool {
	return slices.EqualFunc(a, b, func(x int64, y int) bool { return x == int64(y) })
}

// features is the number of features of the job's model as it was stored. Where s does not
// say it, it is the rows of the model's first variable; 0 for a model whose variables do
// not say it either, as those of a convolution do not.
func (s stored) features(cfg *job.Config) (int, error) {
	g, err := cfg.Model.Graph(graph.Shape{1}, cfg.Loss)
	if err != nil {
		if cfg.Model.Check(cfg.Loss) == nil {
			return s.width, nil // it wants an image
		}
		return 0, err
	}
	name := g.Variables()[0].Name
	t, ok := s.tensors[name]
	switch {
	case !ok:
		return 0, s.bad("no tensor %s", name)
	case s.width > 0:
		return s.width, nil
	case len(t.Shape) == 0 || t.Shape[0] < 1 || t.Shape[0] > int64(len(t.Data)): // [1<<40, 0] has no elements
		return 0, s.bad("tensor %s has shape %v, want a row for each feature", name, t.Shape)
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
