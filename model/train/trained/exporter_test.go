package trained

import (
	"math"
	"path/filepath"
	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/input/synth"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/ring/exitcode"
	"strings"
	"testing"
)

// TestGuard verifies that a bound of export.if refuses a model with the exit code 80 by its evaluation, or without one, and
// that export.keep keeps the newest versions.
func TestGuard(t *testing.T) {
	cfg := job.Default()
	cfg.Model, cfg.Loss.Kind = model.Config{Kind: "softmax", Classes: model.Count(10)}, "softmax"
	data := records.Set{Train: synth.Digits(1, 60, synth.Train), Eval: synth.Digits(1, 30, synth.Eval), Split: "eval"}
	m, err := data.NewModel(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	model.AllocateAll(m.Variables())
	cfg.Export = job.Export{SavedModel: filepath.Join(t.TempDir(), "export"), If: job.Guard{{Name: "accuracy", Compare: ">=", Bound: 0.5}}, Keep: 2}
	write := func(found *checkpoint.Evaluation) error {
		_, err := Exporter{Job: &cfg, Model: m, Proving: data.Proving, Evaluated: found, Disk: bundle.NewDisk(bundle.OS, nil)}.Write(t.Context(), 5)
		return err
	}
	of := func(accuracy checkpoint.Sum) *checkpoint.Evaluation {
		return &checkpoint.Evaluation{Metrics: map[string]checkpoint.Sum{"accuracy": accuracy}}
	}
	for found, want := range map[*checkpoint.Evaluation]string{nil: "accuracy is not known", of(0.25): "export.if: accuracy is 0.25, want >= 0.5"} {
		if err := write(found); exitcode.Of(err) != exitcode.NotFinite || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v (%d), want %q", err, exitcode.Of(err), want)
		}
	}
	for range 3 {
		if err := write(of(0.5)); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(cfg.Export.SavedModel, "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "2" || filepath.Base(left[1]) != "3" {
		t.Errorf("left are %q, error %v, want the versions 2 and 3", left, err)
	}
}

// TestSound verifies which models export.if lets through: by their loss, that of a constant prediction,
// and their variables.
func TestSound(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		name      string
		rule      string
		evaluated *checkpoint.Evaluation
		value     float64 // of a variable
		want      string  // "" if it is exported
	}{
		{"twice", job.Sound, &checkpoint.Evaluation{Loss: 2, Constant: 1}, 0, ""},
		{"more than twice", job.Sound, &checkpoint.Evaluation{Loss: 2.0625, Constant: 1}, 0, "its loss is 2.0625, more than twice that of a constant prediction, 1; "},
		{"always", job.Always, &checkpoint.Evaluation{Loss: 9, Constant: 1}, nan, ""},
		{"loss of NaN", job.Sound, &checkpoint.Evaluation{Loss: checkpoint.Sum(nan), Constant: 1}, 0, "its loss is NaN"},
		{"equal labels", job.Sound, &checkpoint.Evaluation{Loss: 9}, 0, ""},
		{"unknown", job.Sound, nil, 0, ""},
		{"variable of NaN", job.Sound, nil, nan, "variable softmax/kernel is not finite"},
		{"infinite variable", job.Sound, &checkpoint.Evaluation{Loss: 1, Constant: 1}, inf, "variable softmax/kernel is not finite"},
	} {
		cfg := job.Default()
		cfg.Model, cfg.Loss.Kind, cfg.Export.If = model.Config{Kind: "softmax", Classes: model.Count(10)}, "softmax", job.Guard{{Name: tt.rule}}
		data := records.Set{Train: synth.Digits(1, 60, synth.Train), Eval: synth.Digits(1, 30, synth.Eval), Split: "eval"}
		m, err := data.NewModel(&cfg)
		if err != nil {
			t.Fatal(err)
		}
		model.AllocateAll(m.Variables())
		m.Variables()[0].Value[7] = float32(tt.value)
		cfg.Export.SavedModel = filepath.Join(t.TempDir(), "export")
		_, err = Exporter{Job: &cfg, Model: m, Proving: data.Proving, Evaluated: tt.evaluated, Disk: bundle.NewDisk(bundle.OS, nil)}.Write(t.Context(), 5)
		told := err != nil && exitcode.Of(err) == exitcode.NotFinite && strings.Contains(err.Error(), tt.want) && strings.Contains(err.Error(), "export.if=always")
		if tt.want == "" && err != nil || tt.want != "" && !told {
			t.Errorf("%s: error %v (%d), want %q", tt.name, err, exitcode.Of(err), tt.want)
		}
	}
}
