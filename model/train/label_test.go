package train

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// labelJob returns a job of a table in a folder of its own: x in [0, 10), and labels of x.
func labelJob(t *testing.T, model, label string, of func(i int) string, sets ...string) *job.Config {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 200 {
		fmt.Fprintf(&b, "%g,%s\n", float64(i%100)/10, of(i))
	}
	file := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadText(t, fmt.Sprintf(`
model: %s
input:
  train: {format: csv, files: [%s], header: true}
  split: {share: 0.2}
  columns: [label: %s, numeric: {names: [x], standardize: true}]
  batch: 8
optimizer: {name: adam}
train: {epochs: 60}
checkpoint: {dir: %s}
export: {savedmodel: %s}
`, model, file, label, filepath.Join(dir, "ckpt"), filepath.Join(dir, "export")), sets...)
}

// TestScaledLabelTrains verifies that adam at its own rate reaches prices of 20,000 to 150,000 whose label is scaled, that
// loss is of the scaled label, and that checkpoint and export predict and are measured in the unit of the label.
func TestScaledLabelTrains(t *testing.T) {
	price := func(x float64) float64 { return 20000 * math.Exp(x/5) }
	cfg := labelJob(t, "{kind: linear}", "{names: [y], standardize: true, transform: log1p}", func(i int) string { return fmt.Sprintf("%.2f", price(float64(i%100)/10)) }, "train.epochs=150")
	m := trainFiles(t, 1, cfg)
	evals := eventsOf[report.Metrics](m)
	last := evals[len(evals)-1]
	if last.Loss > 0.01 || *last.R2 < 0.99 || *last.RMSE > 3000 || *last.RMSE < 1 {
		t.Errorf("loss %v, R2 %v, RMSE %v, want a model that is right, and an error in the unit of the label", last.Loss, *last.R2, *last.RMSE)
	}
	for _, from := range []string{"", cfg.Export.SavedModel} {
		s, err := trained.Open(t.Context(), cfg, nil, from, records.Evaluated{Labelled: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if again, err := s.Evaluate(t.Context()); err != nil || math.Abs(float64(*again.RMSE / *last.RMSE - 1)) > 1e-5 || again.Loss != last.Loss { // the bundle's are of its graph
			t.Errorf("from %q: RMSE %v, loss %v, %v, training said %v and %v", from, *again.RMSE, again.Loss, err, *last.RMSE, last.Loss)
		}
		if err := s.Predict(t.Context(), func(all []trained.Prediction) error {
			for _, p := range all {
				if p.Scores[0] < 15000 || p.Scores[0] > 200000 {
					t.Errorf("from %q: record %d is predicted as %v, want a price", from, p.Record, p.Scores)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClassesOfRun verifies that events, checkpoint and export have the names of classes that were learnt, that a
// trained model needs no list, and that a run goes on with these classes alone.
func TestClassesOfRun(t *testing.T) {
	size := func(i int) string { return []string{"small", "medium", "large"}[i%100/34] }
	cfg := labelJob(t, "{kind: linear, classes: auto}", "{names: [y]}", size, "train.epochs=3")
	want := []string{"large", "medium", "small"}
	m := trainFiles(t, 2, cfg)
	evals := eventsOf[report.Metrics](m)
	if got := evals[len(evals)-1]; !slices.Equal(got.Classes, want) || len(got.Confusion) != 3 {
		t.Errorf("the event has the classes %q, want %q", got.Classes, want)
	}
	for _, from := range []string{cfg.Checkpoint.Dir, cfg.Export.SavedModel} {
		kept, err := trained.Read(from)
		if err != nil || !slices.Equal(kept.Classes, want) {
			t.Errorf("%s has the classes %q, %v, want %q", from, kept.Classes, err, want)
		}
		listed, err := trained.Inspect(from)
		if err != nil || !slices.ContainsFunc(listed, func(e report.Event) bool { return e.Kind() == "classes" }) {
			t.Errorf("inspect %s does not list the classes (%v)", from, err)
		}
		s, err := trained.Open(t.Context(), cfg, nil, from, records.Evaluated{Labelled: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got, err := s.Evaluate(t.Context()); err != nil || !slices.Equal(got.Classes, want) || *got.Correct != *evals[len(evals)-1].Correct {
			t.Errorf("from %s: %+v, %v", from, got, err)
		}
	}
	other := *cfg
	other.Model.Classes = []string{"small", "medium", "large"}
	other.Model.SetNames(nil)
	_, err := trained.Open(t.Context(), &other, nil, "", records.Evaluated{Labelled: true})
	if err == nil || exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "model.classes is small, medium, large, was large, medium, small in ") {
		t.Errorf("other classes than those of the checkpoint: error %v", err)
	}
	more := labelJob(t, "{kind: linear, classes: auto}", "{names: [y]}", func(i int) string { return strings.ReplaceAll(size(i), "small", "tiny") }, "train.epochs=4")
	more.Checkpoint.Dir = cfg.Checkpoint.Dir
	data, err := records.NewOpener(more, records.Options{}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := trainOn(t, 1, more, data, nil)[0].err; err == nil || !strings.Contains(err.Error(), `model.classes.learnt is "large, medium, tiny", was "large, medium, small"`) {
		t.Errorf("a run that goes on with other classes: error %v", err)
	}
}
