package train

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/model/train/records"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// TestIDBeyond verifies for each format with ids that an id beyond the table is an error that says where
// the bound is from, the job, the training records or the checkpoint, and the key to set.
func TestIDBeyond(t *testing.T) {
	const line = "%d %d:1 %d:1\n"
	for _, tt := range []struct{ format, model, line, columns, said string }{
		{"libsvm", "fm", line, "", "index is 9"},
		{"libffm", "fm", "%d 0:%d:1 0:%d:1\n", "", "index is 9"},
		{"libffm", "fm, fields: 2", "%d 0:%d:1 1:%d:1\n", "", "index is 9"},
		{"tfrecord", "fm", line, "", `feature "ids": id 1 is 9`},
	} {
		t.Run(fmt.Sprintf("format=%s fields=%t", tt.format, tt.model != "fm"), func(t *testing.T) {
			dir := t.TempDir()
			write := func(name string, largest int) string {
				name = filepath.Join(dir, name)
				text := ""
				for i := range 8 {
					text += fmt.Sprintf(tt.line, i%2, 1+i%2, largest)
				}
				to := name
				if tt.format == "tfrecord" {
					to += ".libsvm"
				}
				if err := os.WriteFile(to, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				if to != name {
					if err := convert.Convert(t.Context(), convert.Spec{Origin: convert.Origin{Format: "libsvm", Files: []string{to}}}, convert.Spec{Origin: convert.Origin{Format: "tfrecord", Files: []string{name}}}); err != nil {
						t.Fatal(err)
					}
				}
				return name
			}
			known, beyond := write("known", 3), write("beyond", 9)
			text := fmt.Sprintf("model: {kind: %s}\ninput:\n  train: {format: %s, files: [%s]}\n  batch: 4\noptimizer: {learning_rate: 0.1}\nallreduce: {codec: none}\n", tt.model, tt.format, known)
			refused := func(from, said, key string, err error) {
				t.Helper()
				if exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), tt.said+", want one in [0, 4)"+said) || !strings.Contains(err.Error(), key) {
					t.Errorf("from=%s: error %v (%d)", from, err, exitcode.Of(err))
				}
			}
			eval := []string{"input.eval.format=" + tt.format, "input.eval.files=" + beyond}
			open := func(sets ...string) error {
				data, err := records.NewOpener(loadText(t, text, sets...), records.Options{}).Open(t.Context())
				if err == nil {
					err = newLoaded(data)
					data.Close()
				}
				return err
			}
			refused("job", ", as model.features says", "raise it before training", open("model.features=4", "input.train.files="+beyond))
			refused("records", ", as the training records have", "set model.features before training", open(eval...))
			ckpt := filepath.Join(dir, "ckpt")
			cfg := loadText(t, text, "checkpoint.dir="+ckpt)
			data, err := records.NewOpener(cfg, records.Options{}).Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer data.Close()
			mustTrain(t, 1, cfg, data, nil)
			s, err := trained.Open(t.Context(), cfg, nil, "", records.Evaluated{Files: []string{beyond}})
			if err == nil {
				err = s.Predict(t.Context(), func([]trained.Prediction) error { return nil })
				s.Close()
			}
			refused("checkpoint", ", as the training records of "+ckpt, "set model.features before training", err)
		})
	}
}

// newLoaded reads all records of the evaluation.
func newLoaded(data records.Set) error {
	l := records.NewLoader(data.Eval)
	if err := l.Load(context.Background()); err != nil {
		return err
	}
	proving, err := data.Proving(context.Background())
	if err != nil {
		return err
	}
	return readAll(proving.Data)
}

// readAll returns the first error of the records of d.
func readAll(d input.Dataset) error {
	var b input.Batch
	for i := range d.Facts().Records {
		b.Reset()
		if err := d.Append(&b, i); err != nil {
			return err
		}
	}
	return nil
}

// TestClassBeyond verifies that a label beyond the classes names what says how many there are.
func TestClassBeyond(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.svm")
	if err := os.WriteFile(name, []byte("0 1:1\n3 1:1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"model: {kind: softmax, classes: 3}":                          "label is 3, want a class in [0, 3): model.classes is 3",
		"model: {layers: [dense: {units: 3}]}\nloss: {kind: softmax}": "label is 3, want a class in [0, 3): the last layer has 3 outputs",
	} {
		cfg := loadText(t, text+"\ninput: {train: {format: libsvm, files: ["+name+"]}, batch: 1}\noptimizer: {learning_rate: 0.1}\n")
		if _, err := records.NewOpener(cfg, records.Options{}).Open(t.Context()); exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
