package train

import (
	"math"
	"testing"

	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// TestInspectTop verifies that the largest weights of a trained model come first, with the names
// of texts, ranges and columns.
func TestInspectTop(t *testing.T) {
	folder, ckpt := writeColumns(t), t.TempDir()
	job := loadText(t, columnsText, "checkpoint.dir="+ckpt)
	mustTrain(t, 1, job, openColumns(t, job, folder), nil)
	events, err := InspectTop(ckpt, 8)
	if err != nil || len(events) != 8 {
		t.Fatalf("%d weights, error %v", len(events), err)
	}
	names := map[string]bool{}
	for i, e := range events {
		w := e.(WeightInfo)
		names[w.Input] = true
		if i > 0 && math.Abs(float64(w.Value)) > math.Abs(float64(events[i-1].(WeightInfo).Value)) {
			t.Errorf("weight %d, %v, is larger than the one before", i, w)
		}
	}
	if !names["city=Genève"] && !names["city=Bern"] && !names["n1"] && !names["n2"] {
		t.Errorf("the largest weights are of %v, want a city or a number among them", names)
	}
	mlp := t.TempDir()
	mustTrain(t, 1, loadText(t, digitsText, "checkpoint.dir="+mlp), digitsData(), nil)
	if _, err := InspectTop(mlp, 3); err == nil || exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v of a model of ten classes, want one of usage", err)
	}
}

// TestNameOfID verifies names of all kinds of fields.
func TestNameOfID(t *testing.T) {
	for _, tt := range []struct {
		b    graph.BagColumn
		id   int
		want string
	}{
		{graph.BagColumn{Kind: graph.Vocabulary, Vocabulary: []string{"a"}}, 0, "=a"},
		{graph.BagColumn{Kind: graph.Vocabulary, Vocabulary: []string{"a"}}, 1, " unknown"},
		{graph.BagColumn{Kind: graph.Buckets, Boundaries: []float32{1, 2.5}}, 0, " in [-Inf, 1)"},
		{graph.BagColumn{Kind: graph.Buckets, Boundaries: []float32{1, 2.5}}, 1, " in [1, 2.5)"},
		{graph.BagColumn{Kind: graph.Buckets, Boundaries: []float32{1, 2.5}}, 2, " in [2.5, Inf)"},
		{graph.BagColumn{Kind: graph.Hash, Size: 9}, 7, "#7"},
	} {
		if got := nameOfID(&tt.b, tt.id); got != tt.want {
			t.Errorf("%s %d is %q, want %q", tt.b.Kind, tt.id, got, tt.want)
		}
	}
}
