package train

import (
	"math"
	"strings"
	"testing"

	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// TestInspectTop verifies that the largest weights of a trained model come first, with the names
// of texts, ranges and columns.
func TestInspectTop(t *testing.T) {
	folder, ckpt := writeColumns(t), t.TempDir()
	job := loadText(t, columnsText, "checkpoint.dir="+ckpt)
	mustTrain(t, 1, job, openColumns(t, job, folder), nil)
	events, err := trained.InspectTop(ckpt, 8)
	if err != nil || len(events) != 8 {
		t.Fatalf("%d weights, error %v", len(events), err)
	}
	names := map[string]bool{}
	for i, e := range events {
		w := e.(trained.WeightInfo)
		names[w.Input] = true
		if i > 0 && math.Abs(float64(w.Value)) > math.Abs(float64(events[i-1].(trained.WeightInfo).Value)) {
			t.Errorf("weight %d, %v, is larger than the one before", i, w)
		}
	}
	if !names["city=Genève"] && !names["city=Bern"] && !names["n1"] && !names["n2"] {
		t.Errorf("the largest weights are of %v, want a city or a number among them", names)
	}
	deep, base := t.TempDir(), t.TempDir()
	job = loadText(t, columnsText, "model.kind=wide-deep", "model.hidden=[6, 400]", "checkpoint.dir="+deep, "export.savedmodel="+base)
	mustTrain(t, 1, job, openColumns(t, job, folder), nil)
	for _, path := range []string{deep, base} {
		events, err = trained.InspectTop(path, 100)
		if err != nil || len(events) == 0 {
			t.Errorf("%s: %d weights, error %v", path, len(events), err)
		}
		for _, e := range events {
			if w := e.(trained.WeightInfo); !strings.HasPrefix(w.Variable, "linear") {
				t.Errorf("%s: %v, want weights of the linear part only", path, w)
			}
		}
	}
	mlp := t.TempDir()
	mustTrain(t, 1, loadText(t, digitsText, "checkpoint.dir="+mlp), digitsData(), nil)
	if _, err := trained.InspectTop(mlp, 3); err == nil || exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v of a model of ten classes, want one of usage", err)
	}
}
