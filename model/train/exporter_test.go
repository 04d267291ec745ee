package train

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ringtrain/export/bundle"
	"ringtrain/export/savedmodel"
	"ringtrain/ring/exitcode"
)

// TestExportIsVerified fails if an export counts without its variables having
// been read back, or if they do not predict what the model does, with the kernels
// that it was trained with.
func TestExportIsVerified(t *testing.T) {
	tests := []struct {
		name, text string
		data       Set
		want       int
		kernels    string
	}{
		{"linear", linearText, linearData(), 100, "auto"},
		{"digits", digitsText, digitsData(), 300, "auto"},
		{"digits", digitsText, digitsData(), 300, "portable"},
		{"clicks", clicksText, clicksData(), 1000, "auto"}, // of 1100
	}
	for _, tt := range tests {
		t.Run("job="+tt.name+"/kernels="+tt.kernels, func(t *testing.T) {
			base := filepath.Join(t.TempDir(), "export")
			job := loadText(t, tt.text, "export.savedmodel="+base, "train.kernels="+tt.kernels)
			for version := range 2 {
				m := mustTrain(t, 2, job, tt.data, nil)[0]
				want := Exported{10, filepath.Join(base, fmt.Sprint(version+1)), "savedmodel", tt.want, 0, "variables read back"}
				if got := eventsOf[Exported](m); len(got) != 1 || got[0] != want {
					t.Errorf("exports are %+v, want %+v", got, want)
				}
			}
		})
	}
}

// TestTamperedExport fails if a bundle whose variables are not the model's is
// published, or if anything of it is left.
func TestTamperedExport(t *testing.T) {
	job, data := loadText(t, digitsText), digitsData()
	x := exporter{job: job, model: randomModel(t, job, data), data: data.Eval}
	var err error
	if _, err = data.NewModel(job); err != nil {
		t.Fatal(err)
	}
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
			var made savedmodel.Trained
			for _, v := range x.model.Variables() {
				made.Variables = append(made.Variables, savedmodel.Variable{Name: v.Name, Shape: v.Shape, Value: v.Value})
			}
			base := filepath.Join(t.TempDir(), "export")
			_, err := savedmodel.Write(base, x.model.Graph(), made, featureNames(job), func(dir string) error {
				tt.tamper(t, dir)
				_, worst, err := x.verify(dir)
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
