package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// writeNarrow writes LibSVM records of two classes, whose largest id is last.
func writeNarrow(t *testing.T, last int) string {
	t.Helper()
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "%d 0:0.5 %d:1\n", i%2, 1+i%last)
	}
	path := filepath.Join(t.TempDir(), "records.libsvm")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSavedWidth verifies that a saved model reads records with fewer features than the
// training records had: of an image model, and where the first variable is no measure of
// the input.
func TestSavedWidth(t *testing.T) {
	const image = "name: narrow\nmodel: {layers: [{conv2d: {filters: 2, kernel: 2}}, global_avg_pool, {dense: {units: 2}}]}\n" +
		"input: {shape: [4, 4, 1], batch: 10, train: {format: libsvm, files: [x]}}\n"
	const twice = "name: narrow\nmodel: {layers: [{in: [input, input], concat: {}}, {dense: {units: 2}}]}\n" +
		"input: {batch: 10, train: {format: libsvm, files: [x]}}\n"
	const rest = "loss: {kind: softmax}\noptimizer: {learning_rate: 0.1}\ntrain: {steps: 3}\n"
	for name, text := range map[string]string{"model=image": image, "model=twice": twice} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			job := loadText(t, text+rest, "checkpoint.dir="+filepath.Join(dir, "ckpt"), "export.savedmodel="+filepath.Join(dir, "export"),
				"input.train.files="+writeNarrow(t, 12))
			data, err := NewOpener(job, OpenOptions{Roots: []string{"."}}).Open()
			if err != nil {
				t.Fatal(err)
			}
			mustTrain(t, 1, job, data, nil)
			for _, from := range []string{"ckpt", "export"} {
				s, err := OpenSaved(job, nil, filepath.Join(dir, from), []string{writeNarrow(t, 3)})
				if err != nil {
					t.Errorf("from %s: %v", from, err)
					continue
				}
				if m, err := s.Evaluate(t.Context()); err != nil || m.Examples != 20 {
					t.Errorf("from %s: metrics %s, error %v", from, asJSON(t, m), err)
				}
				s.Close()
			}
		})
	}
}

// TestSavedKernels verifies that a saved model computes with the kernel set that trained
// it, that train.kernels wins, and that a set which this machine lacks is told.
func TestSavedKernels(t *testing.T) {
	for _, c := range []struct{ name, key, stored, want, note string }{
		{"set=stored", "auto", "portable", "portable", ""},
		{"set=job", highestSet(), "portable", highestSet(), ""},
		{"set=unknown", "auto", "", highestSet(), ""},
		{"set=lacking", "auto", "quantum", highestSet(), "was trained with the kernels quantum"},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := loadText(t, linearText, "checkpoint.dir="+t.TempDir(), "train.kernels=portable")
			mustTrain(t, 1, job, linearData(), nil)
			job.Train.Kernels = c.key
			s, err := OpenSaved(job, nil, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if s.kept.kernels != "portable" {
				t.Errorf("the checkpoint says %q, want portable", s.kept.kernels)
			}
			s.kept.kernels = c.stored
			s.Note = ""
			s.useKernels()
			if got := s.model.Engine().Set().String(); got != c.want || !strings.Contains(s.Note, c.note) || c.note == "" && s.Note != "" {
				t.Errorf("kernels are %s, note %q, want %s and %q", got, s.Note, c.want, c.note)
			}
		})
	}
	job := loadText(t, linearText, "checkpoint.dir="+t.TempDir())
	job.Train.Kernels = "quantum"
	if _, err := OpenSaved(job, nil, "", nil); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v, want code %d", err, exitcode.Usage)
	}
}
