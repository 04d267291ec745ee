package trained

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/export/savedmodel"
	"ringtrain/input/synth"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/ring/exitcode"
	"slices"
	"strings"
	"testing"
)

// TestTamperedExport verifies that a bundle whose variables are not those of the model is not
// published, and that nothing of it remains.
func TestTamperedExport(t *testing.T) {
	cfg := job.Default()
	cfg.Model, cfg.Loss.Kind = model.Config{Kind: "softmax", Classes: model.Count(10)}, "softmax"
	data := records.Set{Train: synth.Digits(1, 60, synth.Train), Eval: synth.Digits(1, 300, synth.Eval), Split: "eval"}
	m, err := data.NewModel(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	model.AllocateAll(m.Variables())
	r := rand.New(rand.NewPCG(1, 2))
	for _, v := range m.Variables() {
		for i := range v.Value {
			v.Value[i] = float32(r.NormFloat64()) / 4
		}
	}
	x := Exporter{Job: &cfg, Model: m, Data: data.Eval, Disk: bundle.NewDisk(bundle.OS, func(err error) { t.Error(err) })}
	// rewrite writes the variables of the bundle in dir anew, changed.
	rewrite := func(t *testing.T, dir string, change func(tensors []bundle.Tensor) []bundle.Tensor) {
		t.Helper()
		b, err := savedmodel.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		prefix := filepath.Join(dir, "variables", "variables")
		for _, suffix := range []string{".index", ".data-00000-of-00001"} {
			if err := os.Remove(prefix + suffix); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := bundle.Write(bundle.OS, prefix, change(b.Variables)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		tamper func(t *testing.T, dir string)
		code   int
	}{
		{"nothing", func(*testing.T, string) {}, exitcode.OK},
		{"a bit, found by its checksum", func(t *testing.T, dir string) {
			damage(t, filepath.Join(dir, "variables", "variables.data-00000-of-00001"))
		}, exitcode.BadData},
		{"a weight", func(t *testing.T, dir string) {
			rewrite(t, dir, func(all []bundle.Tensor) []bundle.Tensor { all[1].Data[2] ^= 1; return all })
		}, exitcode.Internal},
		{"a weight, to NaN", func(t *testing.T, dir string) {
			rewrite(t, dir, func(all []bundle.Tensor) []bundle.Tensor { copy(all[1].Data, "\xff\xff\xff\xff"); return all })
		}, exitcode.Internal},
		{"a variable is missing", func(t *testing.T, dir string) {
			rewrite(t, dir, func(all []bundle.Tensor) []bundle.Tensor { return slices.Delete(all, 1, 2) })
		}, exitcode.BadData},
		{"a shape", func(t *testing.T, dir string) {
			rewrite(t, dir, func(all []bundle.Tensor) []bundle.Tensor { all[1].Shape = []int64{2, 5}; return all })
		}, exitcode.BadData},
	}
	for _, tt := range tests {
		t.Run("tampered="+tt.name, func(t *testing.T) {
			made := savedmodel.Trained{Names: featureNames(&cfg)}
			for _, v := range x.Model.Variables() {
				made.Variables = append(made.Variables, savedmodel.Variable{Name: v.Name, Shape: v.Shape, Value: v.Value})
			}
			base := filepath.Join(t.TempDir(), "export")
			_, err := savedmodel.Write(x.Disk, base, x.Model.Graph(), made, func(dir string) error {
				tt.tamper(t, dir)
				_, worst, err := x.verify(t.Context(), dir)
				if (worst != 0) != (tt.code == exitcode.Internal) {
					t.Errorf("largest difference is %g", worst)
				}
				return err
			})
			if exitcode.Of(err) != tt.code {
				t.Errorf("error %v (%d), want code %d", err, exitcode.Of(err), tt.code)
			}
			if _, err := os.Stat(base); (err == nil) != (tt.code == exitcode.OK) {
				t.Errorf("the base is there or not: %v", err)
			}
		})
	}
}

// damage flips a bit in the middle of a file.
func damage(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 0x40
	if err := os.WriteFile(name, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

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
		_, err := Exporter{Job: &cfg, Model: m, Data: data.Eval, Evaluated: found, Disk: bundle.NewDisk(bundle.OS, nil)}.Write(t.Context(), 5)
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
		_, err = Exporter{Job: &cfg, Model: m, Data: data.Eval, Evaluated: tt.evaluated, Disk: bundle.NewDisk(bundle.OS, nil)}.Write(t.Context(), 5)
		told := err != nil && exitcode.Of(err) == exitcode.NotFinite && strings.Contains(err.Error(), tt.want) && strings.Contains(err.Error(), "export.if=always")
		if tt.want == "" && err != nil || tt.want != "" && !told {
			t.Errorf("%s: error %v (%d), want %q", tt.name, err, exitcode.Of(err), tt.want)
		}
	}
}
