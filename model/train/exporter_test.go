package train

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// exported returns the event of an export of step 10 that was compared on so many records.
func exported(path string, records, of int, metric string) report.Exported {
	return report.Exported{Step: 10, Path: path, Format: "savedmodel", Verified: records, Of: of, How: "graph run", Metric: &report.Compared{Name: metric}}
}

// isExported reports whether an event is the wanted one, with a difference within the bound and a metric that both agree on.
func isExported(got, want report.Exported) bool {
	if got.Metric == nil || got.Metric.Name != want.Metric.Name || !(got.MaxDifference <= 1e-5) || math.Abs(float64(got.Metric.Model-got.Metric.Graph)) > 1e-4 {
		return false
	}
	got.MaxDifference, got.Metric = want.MaxDifference, want.Metric
	return got == want
}

// TestExportIsProved verifies that the graph of an export gives the scores of the model, with the kernels that trained it.
func TestExportIsProved(t *testing.T) {
	tests := []struct {
		name, text string
		data       records.Set
		want, of   int
		kernels    string
		metric     string
	}{
		{"linear", linearText, linearData(), 100, 100, "auto", "rmse"},
		{"digits", digitsText, digitsData(), 300, 300, "auto", "accuracy"},
		{"digits", digitsText, digitsData(), 300, 300, "portable", "accuracy"},
		{"clicks", clicksText, clicksData(), 1000, 1100, "auto", "auc"},
	}
	for _, tt := range tests {
		t.Run("job="+tt.name+"/kernels="+tt.kernels, func(t *testing.T) {
			base := filepath.Join(t.TempDir(), "export")
			cfg := loadText(t, tt.text, "export.savedmodel="+base, "train.kernels="+tt.kernels)
			for version := range 2 {
				m := mustTrain(t, 2, cfg, tt.data, nil)[0]
				want := exported(filepath.Join(base, fmt.Sprint(version+1)), tt.want, tt.of, tt.metric)
				if got := eventsOf[report.Exported](m); len(got) != 1 || !isExported(got[0], want) {
					t.Errorf("exports are %+v, want %+v", got, want)
				}
			}
		})
	}
}

// TestDivergedIsNotExported verifies that a model of each kind that has diverged is not exported unless
// export.if is always: the job ends with 80 on all ranks and keeps the checkpoint, also when it is
// started again; export reads the evaluation beside the checkpoint and obeys it, too.
func TestDivergedIsNotExported(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		data       records.Set
		sets       []string
	}{
		{"linear", linearText, linearData(), []string{"optimizer.learning_rate=1e-6"}}, // far from the mean
		{"digits", digitsText, digitsData(), []string{"optimizer.learning_rate=1e9"}},
		{"clicks", clicksText, clicksData(), []string{"optimizer.learning_rate=1e9"}},
		{"average", clicksText, clicksData(), []string{"optimizer.learning_rate=1e9", "train.average.decay=0.5", "train.average.evaluate=true", "train.average.export=true"}},
		{"best", clicksText, clicksData(), []string{"optimizer.learning_rate=1e9", "eval.every=2", "train.early_stopping.patience=2"}},
	} {
		for _, p := range []int{1, 2} {
			t.Run(fmt.Sprintf("job=%s/ranks=%d", tt.name, p), func(t *testing.T) {
				dir := t.TempDir()
				base := filepath.Join(dir, "export")
				sets := append([]string{"checkpoint.dir=" + filepath.Join(dir, "ckpt"), "export.savedmodel=" + base}, tt.sets...)
				cfg := loadText(t, tt.text, sets...)
				for range 2 { // the second time the job is finished
					m := trainOn(t, p, cfg, tt.data, nil)[0]
					if m.code() != exitcode.NotFinite || !containsAll(m.cause().Text, "more than twice that of a constant prediction, ", "export.if=always", "its checkpoint is kept") {
						t.Fatalf("ended with %v (%d)", m.err, m.code())
					}
				}
				if steps := glob(t, filepath.Join(dir, "ckpt", "step-*")); len(steps) == 0 || len(glob(t, base+"/*")) > 0 {
					t.Errorf("checkpoints are %q, want one; exports are %q, want none", steps, glob(t, base+"/*"))
				}
				exportAs := func(rule string) error {
					cfg.Export.If = job.Guard{{Name: rule}}
					s, err := trained.Open(t.Context(), cfg, nil, "", records.Evaluated{Proves: true})
					if err != nil {
						t.Fatal(err)
					}
					defer s.Close()
					_, err = s.Export(t.Context(), filepath.Join(dir, "other"), func(_, _ string) {})
					return err
				}
				if err := exportAs(job.Sound); exitcode.Of(err) != exitcode.NotFinite {
					t.Errorf("export: %v (%d), want code %d", err, exitcode.Of(err), exitcode.NotFinite)
				}
				if err := exportAs(job.Always); err != nil {
					t.Error(err)
				}
				if m := mustTrain(t, p, cfg, tt.data, nil)[0]; len(eventsOf[report.Exported](m)) != 1 {
					t.Errorf("export.if=always: the finished job exports %v", eventsOf[report.Exported](m))
				}
			})
		}
	}
}

// TestEqualLabelsDecideNothing verifies that a model is exported whatever its loss is, if all evaluated
// labels are equal.
func TestEqualLabelsDecideNothing(t *testing.T) {
	one := func(int) int { return 1 }
	cfg := loadText(t, fmt.Sprintf(`
name: equal
model: {kind: sparse-linear, features: 4}
input: {train: {format: libsvm, files: [%s]}, eval: {format: libsvm, files: [%s]}, batch: 8}
optimizer: {name: sgd, learning_rate: 1e6}
train: {steps: 8}
export: {savedmodel: %s}
`, lines(t, "train", 64, even), lines(t, "eval", 12, one), filepath.Join(t.TempDir(), "export")))
	m := trainFiles(t, 1, cfg)
	if e := eventsOf[report.Metrics](m)[0]; e.Constant != 0 || e.Loss < 10 || len(eventsOf[report.Exported](m)) != 1 {
		t.Errorf("loss %v, constant %v, exports %v: want a bad loss, 0, and one", e.Loss, e.Constant, eventsOf[report.Exported](m))
	}
}

// TestExportIntoAnothersFolder verifies that a job that exports into a folder whose newest version is of
// another job is warned once at its start, by training and by export, and that the next run of the same
// job is not.
func TestExportIntoAnothersFolder(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Join(dir, "export")
	mustTrain(t, 1, loadText(t, linearText, "export.savedmodel="+base), linearData(), nil)
	cfg := loadText(t, clicksText, "export.savedmodel="+base, "checkpoint.dir="+filepath.Join(dir, "ckpt"))
	told := func(m *member) (texts []string) {
		for _, w := range eventsOf[report.Warning](m) {
			texts = append(texts, w.Operation+" "+w.Cause)
		}
		return texts
	}
	first := mustTrain(t, 2, cfg, clicksData(), nil)
	want := "export export.savedmodel: the newest version, " + filepath.Join(base, "1") + ", has another job's name: line there, clicks here; "
	if got := told(first[0]); len(got) != 1 || !containsAll(got[0], want, "other inputs: x float[1] there, ids int64, values float here") || len(told(first[1])) > 0 {
		t.Errorf("warnings are %q, want one that begins %q", got, want)
	}
	cfg.Train.Steps = 12
	if got := told(mustTrain(t, 2, cfg, clicksData(), nil)[0]); len(got) > 0 {
		t.Errorf("the next run of the same job is warned: %q", got)
	}
	s, err := trained.Open(t.Context(), cfg, nil, "", records.Evaluated{Proves: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mustTrain(t, 1, loadText(t, linearText, "export.savedmodel="+filepath.Join(dir, "other")), linearData(), nil)
	var warned []string
	if _, err := s.Export(t.Context(), filepath.Join(dir, "other"), func(_, text string) { warned = append(warned, text) }); err != nil || len(warned) != 1 || !containsAll(warned[0], "--to: ", "has another job's name: line there, clicks here") {
		t.Errorf("export warns %q, error %v", warned, err)
	}
}
