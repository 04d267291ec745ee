package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringtrain/input/convert"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/model/train/traintest"
	"ringtrain/ring/exitcode"
)

// TestSaved verifies that a checkpoint and its export give the metrics and scores of training.
func TestSaved(t *testing.T) {
	dir := t.TempDir()
	ckpt, base := filepath.Join(dir, "ckpt"), filepath.Join(dir, "export")
	cfg := loadText(t, linearText, "checkpoint.dir="+ckpt, "export.savedmodel="+base, "train.epochs=3", "train.steps=0", "eval.training=true")
	m := mustTrain(t, 2, cfg, linearData(), nil)[0]
	kept := eventsOf[report.Metrics](m)[0]
	var scores []string
	for _, from := range []string{"", ckpt, filepath.Join(ckpt, "step-000030"), base, filepath.Join(base, "1")} {
		s, err := trained.Open(t.Context(), cfg, nil, from, records.Evaluated{Labelled: true})
		if err != nil {
			t.Fatalf("from %q: %v", from, err)
		}
		defer s.Close()
		got, err := s.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := kept
		if from == base || filepath.Dir(from) == base {
			want.Epoch = 0 // a bundle does not store it
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("from %q: metrics are %s, want %s", from, traintest.JSON(t, got), traintest.JSON(t, want))
		}
		all := ""
		err = s.Predict(t.Context(), func(some []trained.Prediction) error {
			for _, p := range some {
				all += fmt.Sprintln(p.Record, p.Scores)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		scores = append(scores, all)
		if strings.Count(all, "\n") != linearData().Eval.Facts().Records {
			t.Errorf("from %q: predictions are\n%s\nwant one for each record", from, all)
		}
		if all != scores[0] {
			t.Errorf("from %q: other scores than from the checkpoint", from)
		}
	}
}

// TestSavedExport verifies that an export from a checkpoint equals the export of training.
func TestSavedExport(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Join(dir, "export")
	cfg := loadText(t, linearText, "checkpoint.dir="+filepath.Join(dir, "ckpt"), "export.savedmodel="+base)
	mustTrain(t, 1, cfg, linearData(), nil)
	s, err := trained.Open(t.Context(), cfg, nil, "", records.Evaluated{Proves: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	warn := func(_, text string) { t.Error(text) }
	got, err := s.Export(t.Context(), filepath.Join(dir, "other"), warn)
	if want := exported(filepath.Join(dir, "other", "1"), 100, 100, "rmse"); err != nil || !isExported(got, want) {
		t.Errorf("export is %+v, %v, want %+v", got, err, want)
	}
	if got, err = s.Export(t.Context(), "", warn); err != nil || got.Path != filepath.Join(base, "2") {
		t.Errorf("export is %+v, %v, want the job's base, version 2", got, err)
	}
	for _, name := range []string{"saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"} {
		a, errA := os.ReadFile(filepath.Join(base, "1", name))
		b, errB := os.ReadFile(filepath.Join(dir, "other", "1", name))
		if err := errors.Join(errA, errB); err != nil || string(a) != string(b) {
			t.Errorf("%s differs, error %v", name, err)
		}
	}
}

// TestSavedFiles verifies that other records may replace the validation records, with the number of
// features of the model.
func TestSavedFiles(t *testing.T) {
	dir := t.TempDir()
	cfg := loadText(t, clicksText, "checkpoint.dir="+filepath.Join(dir, "ckpt"))
	mustTrain(t, 1, cfg, clicksData(), nil)
	few, beyond := filepath.Join(dir, "few.libsvm"), filepath.Join(dir, "beyond.libsvm")
	for name, text := range map[string]string{few: "1 3:1 4:1\n0 5:1\n", beyond: "1 3:1\n0 124:1\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Input.Synthetic, cfg.Input.Eval = false, job.Files{Format: "libsvm", Files: []string{"*.libsvm"}}
	s, err := trained.Open(t.Context(), cfg, nil, "", records.Evaluated{Files: []string{few}, Labelled: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if m, err := s.Evaluate(t.Context()); err != nil || m.Examples != 2 || m.Split != "eval" {
		t.Errorf("metrics %s, error %v, want two examples", traintest.JSON(t, m), err)
	}
	if _, err := trained.Open(t.Context(), cfg, nil, "", records.Evaluated{Files: []string{beyond}}); exitcode.Of(err) != exitcode.BadData {
		t.Errorf("an id that the model does not have: error %v, want code %d", err, exitcode.BadData)
	}
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := s.Predict(ctx, func([]trained.Prediction) error { return nil }); !errors.Is(err, why) {
		t.Errorf("error %v of a context that has ended, want %v", err, why)
	}
	if err := s.Predict(t.Context(), func([]trained.Prediction) error { return why }); !errors.Is(err, why) {
		t.Errorf("error %v, want the caller's, %v", err, why)
	}
}

// TestOpenSavedRefuses verifies the exit code of each fault of a saved model or its records.
func TestOpenSavedRefuses(t *testing.T) {
	dir := t.TempDir()
	ckpt := filepath.Join(dir, "ckpt")
	cfg := loadText(t, linearText, "checkpoint.dir="+ckpt)
	mustTrain(t, 1, cfg, linearData(), nil)
	digits := loadText(t, digitsText)
	idx := loadText(t, digitsText)
	idx.Input.Synthetic, idx.Input.Eval = false, job.Files{Format: "idx", Images: "i", Labels: "l"}
	idx.Model.Features = 784
	wide := loadText(t, linearText, "model.features=2")
	tests := []struct {
		name  string
		job   *job.Config
		from  string
		files []string
		code  int
	}{
		{"nowhere", digits, "", nil, exitcode.Usage},
		{"empty folder", cfg, dir, nil, exitcode.NoInput},
		{"no such folder", cfg, filepath.Join(dir, "x"), nil, exitcode.NoInput},
		{"another model", digits, ckpt, nil, exitcode.BadData},
		{"other features", wide, ckpt, nil, exitcode.Usage},
		{"three files", idx, ckpt, []string{"i", "l", "m"}, exitcode.Usage},
		{"missing images", idx, ckpt, []string{"i"}, exitcode.NoInput},
		{"missing file", idx, ckpt, []string{"i", "l"}, exitcode.NoInput},
	}
	for _, tt := range tests {
		t.Run("what="+tt.name, func(t *testing.T) {
			if _, err := trained.Open(t.Context(), tt.job, nil, tt.from, records.Evaluated{Files: tt.files, Labelled: len(tt.files) == 0}); exitcode.Of(err) != tt.code {
				t.Errorf("error %v (%d), want code %d", err, exitcode.Of(err), tt.code)
			}
		})
	}
}

// TestInspect verifies the listed contents of a checkpoint and a bundle.
func TestInspect(t *testing.T) {
	dir := t.TempDir()
	ckpt, base := filepath.Join(dir, "ckpt"), filepath.Join(dir, "export")
	cfg := loadText(t, digitsText, "checkpoint.dir="+ckpt, "export.savedmodel="+base, "optimizer.name=momentum")
	mustTrain(t, 1, cfg, digitsData(), nil)
	for path, want := range map[string][]string{
		ckpt: {"softmax/bias float32 [10]", "softmax/bias/Momentum float32 [10]", "softmax/kernel float32 [784 10]",
			"softmax/kernel/Momentum float32 [784 10]", "global_step int64 []"},
		base: {"predict_images", "serving_default", "feature x float32 [784] required true", "request of serving_default", "proof", "global_step int64 []", "softmax/bias float32 [10]", "softmax/kernel float32 [784 10]"},
	} {
		events, err := trained.Inspect(path)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range events {
			switch e := e.(type) {
			case trained.SignatureInfo:
				got = append(got, e.Name)
			case trained.FeatureInfo:
				got = append(got, fmt.Sprint("feature ", e.Name, " ", e.Type, " ", e.Shape, " required ", e.Required))
			case trained.RequestInfo:
				got = append(got, "request of "+e.Signature)
				if !json.Valid(e.Request) || !strings.HasPrefix(e.Curl, "curl -s http://127.0.0.1:8501/v1/models/export") {
					t.Errorf("the request is %s, sent by %s", e.Request, e.Curl)
				}
			case trained.ProofInfo, trained.RefusedInfo:
				got = append(got, e.Kind())
			case trained.TensorInfo:
				got = append(got, fmt.Sprint(e.Name, " ", e.DType, " ", e.Shape))
				if few := e.Bytes <= 40; (len(e.Values) > 0) != few || e.Min == nil || *e.Min > *e.Mean || *e.Mean > *e.Max {
					t.Errorf("%s has %s", e.Name, traintest.JSON(t, e))
				}
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s has\n%q\nwant\n%q", filepath.Base(path), got, want)
		}
	}
	if _, err := trained.Inspect(filepath.Join(dir, "x")); exitcode.Of(err) != exitcode.NoInput {
		t.Errorf("error %v (%d), want code %d", err, exitcode.Of(err), exitcode.NoInput)
	}
}

// TestPrepare verifies that faults of one machine are found before the ranks meet, each with its
// exit code.
func TestPrepare(t *testing.T) {
	dir := t.TempDir()
	if _, err := convert.Make("linear", 1, 0, dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "three.libsvm"), []byte("1 1:1 2:1 3:1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	records := job.Files{Format: "tfrecord", Files: []string{"linear.tfrecords"}, Values: "features"}
	tests := []struct {
		name   string
		change func(j *job.Config)
		resume string
		code   int
		words  string
	}{
		{"right", func(j *job.Config) {}, "auto", exitcode.OK, ""},
		{"resume", func(j *job.Config) {}, "perhaps", exitcode.Usage, `--resume is "perhaps", want auto, never or must`},
		{"missing", func(j *job.Config) { j.Input.Train.Files = []string{"x"} }, "auto", exitcode.NoInput, "input.train: "},
		{"missing validation", func(j *job.Config) { j.Input.Eval = job.Files{Format: "tfrecord", Files: []string{"x"}} }, "auto", exitcode.NoInput, "input.eval: "},
		{"missing of a built-in job", func(j *job.Config) { j.Name, j.Input.Train.Files = "ctr", []string{"x"} }, "auto", exitcode.NoInput, `"ringtrain data fetch a8a"`},
		{"empty", func(j *job.Config) { j.Input.Train.Files = []string{"empty"} }, "auto", exitcode.BadData, "input.train: "},
		{"other features", func(j *job.Config) {
			j.Input.Eval = job.Files{Format: "libsvm", Base: 1, Files: []string{"three.libsvm"}}
		}, "auto", exitcode.BadData, "input.eval: "},
		{"features of the job", func(j *job.Config) {
			j.Model.Features, j.Input.Train = 2, job.Files{Format: "libsvm", Base: 1, Files: []string{"three.libsvm"}}
		}, "auto", exitcode.BadData, "input.train: "},
		{"drawn points of two features", func(j *job.Config) { j.Model.Features, j.Input = 2, job.Input{Synthetic: true, Batch: 1} },
			"auto", exitcode.Usage, "model.features is 2, want 1"},
		{"drawn digits of seven classes", func(j *job.Config) {
			j.Input, j.Model.Kind, j.Model.Classes = job.Input{Synthetic: true, Batch: 1}, "softmax", model.Count(7)
		}, "auto", exitcode.Usage, "model.classes is 7, want 10"},
		{"drawn clicks", func(j *job.Config) {
			j.Input, j.Model.Kind, j.Model.Features = job.Input{Synthetic: true, Batch: 1}, "sparse-linear", 7
		}, "auto", exitcode.Usage, "model.features is 7, want at least 124"},
	}
	for _, tt := range tests {
		t.Run("job="+tt.name, func(t *testing.T) {
			cfg := *loadText(t, linearText)
			cfg.Input.Synthetic, cfg.Input.Train = false, records
			tt.change(&cfg)
			trainer, err := Prepare(t.Context(), &cfg, Options{Roots: []string{dir}, Resume: tt.resume})
			if exitcode.Of(err) != tt.code || err != nil && !containsAll(err.Error(), tt.words) {
				t.Fatalf("error %v (%d), want %q (%d)", err, exitcode.Of(err), tt.words, tt.code)
			}
			if err == nil {
				trainer.Close()
			}
		})
	}
}

// TestAgree verifies that ranks with different jobs do not agree, also if the rendezvous prints both values
// alike, and that ranks with equal jobs agree whatever their disks.
func TestAgree(t *testing.T) {
	lines := func(sets ...string) []string {
		t.Helper()
		trainer, err := newTrainer(loadText(t, linearText, sets...), Options{}, linearData())
		if err != nil {
			t.Fatal(err)
		}
		return trainer.Agree()
	}
	want := lines()
	for _, set := range []string{"checkpoint.dir=x", "checkpoint.every=3", "checkpoint.keep=9", "export.savedmodel=y", "input.prefetch=0", "input.max_features=99", "input.max_inflate=1GiB",
		"eval.every=3", "log.every=3", "input.train.files=a", "input.eval.images=b"} {
		if got := lines(set); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: ranks must agree on %q, want no more than %q", set, got, want)
		}
	}
	for _, set := range []string{"input.batch=3", "train.seed=2", "train.steps=3", "train.epochs=2", "optimizer.learning_rate=0.2", "loss.reduction=sum",
		"schedule.kind=linear", "allreduce.codec=int8", "allreduce.link=tcp", "allreduce.bucket=4KiB", "allreduce.lossless=zstd", "input.shuffle=false", "name=x"} {
		if got := lines(set); reflect.DeepEqual(got, want) {
			t.Errorf("%s: ranks need not agree on it", set)
		}
	}
	if tab, blank := lines("name=a\tb"), lines("name=a b"); reflect.DeepEqual(tab, blank) || !slices.Contains(tab, `name="a\tb"`) {
		t.Errorf("with a tab in its name a job agrees on %q, want it quoted", tab)
	}
}
