package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/model/train/records"
	"ringtrain/model/train/trained"
	"ringtrain/model/train/traintest"
	"ringtrain/ring/exitcode"
)

// writeNarrow writes LibSVM records of two classes with the given largest id.
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

// TestSavedWidth verifies that a saved model reads records with fewer features than the training
// records: for an image model, and for a model whose first variable does not give the width of the
// input.
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
			data, err := records.NewOpener(job, records.Options{Roots: []string{"."}}).Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			mustTrain(t, 1, job, data, nil)
			for _, from := range []string{"ckpt", "export"} {
				s, err := trained.Open(t.Context(), job, nil, filepath.Join(dir, from), records.Evaluated{Files: []string{writeNarrow(t, 3)}, Labelled: true})
				if err != nil {
					t.Errorf("from %s: %v", from, err)
					continue
				}
				if m, err := s.Evaluate(t.Context()); err != nil || m.Examples != 20 {
					t.Errorf("from %s: metrics %s, error %v", from, traintest.JSON(t, m), err)
				}
				s.Close()
			}
		})
	}
}

// TestSavedAsNumbers verifies that the error for a model that has read pairs as numbers, of a job that reads them as ids, says
// how to read them.
func TestSavedAsNumbers(t *testing.T) {
	for model, want := range map[string]string{
		"kind: linear":                       "no tensor linear/weights but linear/kernel",
		"kind: softmax, classes: 2":          "no tensor linear/weights but softmax/kernel",
		"kind: mlp, classes: 2, hidden: [3]": "no tensor hidden_1/weights but hidden_1/kernel",
		"kind: sparse-linear":                "no tensor linear/weights but linear/kernel",
	} {
		text := "model: {" + model + "}\ninput: {batch: 10, train: {format: libsvm, files: [" + writeNarrow(t, 4) + "]}}\noptimizer: {learning_rate: 0.1}\ntrain: {steps: 3}\n"
		dir := "checkpoint.dir=" + t.TempDir()
		job := loadText(t, text, dir, "input.shape=[5]")
		data, err := records.NewOpener(job, records.Options{Roots: []string{"."}}).Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mustTrain(t, 1, job, data, nil)
		want += ": its records are numbers, want input.shape: [5]"
		_, err = trained.Open(t.Context(), loadText(t, text, dir), nil, "", records.Evaluated{Proves: true})
		if exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", model, err, want)
		}
	}
}

// TestSavedKernels verifies that a checkpoint names the kernel set that trained it, and that a saved
// model asks for no set that this machine lacks.
func TestSavedKernels(t *testing.T) {
	job := loadText(t, linearText, "checkpoint.dir="+t.TempDir(), "train.kernels=portable")
	mustTrain(t, 1, job, linearData(), nil)
	kept, err := trained.Read(job.Checkpoint.Dir)
	if err != nil || kept.Kernels != "portable" {
		t.Errorf("the checkpoint says %q (error %v), want portable", kept.Kernels, err)
	}
	job.Train.Kernels = "auto"
	s, err := trained.Open(t.Context(), job, nil, "", records.Evaluated{Proves: true})
	if err != nil {
		t.Fatal(err)
	}
	if s.Note != "" {
		t.Errorf("note %q, want none", s.Note)
	}
	s.Close()
	job = loadText(t, linearText, "checkpoint.dir="+t.TempDir())
	job.Train.Kernels = "quantum"
	if _, err := trained.Open(t.Context(), job, nil, "", records.Evaluated{Labelled: true}); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v, want code %d", err, exitcode.Usage)
	}
}
