package model

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"ringtrain/model/tensor"
)

// goldenMetrics has numbers of scikit-learn, from testdata/metrics/make_metrics.py.
type goldenMetrics struct {
	Classes struct {
		Scores    [][]float32
		Labels    []float32
		Confusion [][]int64
		Top       []int64 // examples in the top 1, 2, …
		LogLoss   float64 `json:"log_loss"`
		perClass
	}
	Binary struct {
		Scores            []float32
		Labels            []float32
		LogLoss           float64 `json:"log_loss"`
		NormalizedEntropy float64 `json:"normalized_entropy"`
		Calibration       float64
		perClass
	}
}

type perClass struct{ Precision, Recall, F1 []float64 }

func readGoldenMetrics(t *testing.T) *goldenMetrics {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "metrics", "metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	g := new(goldenMetrics)
	if err := json.Unmarshal(text, g); err != nil {
		t.Fatal(err)
	}
	return g
}

func agrees(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want) }

// wantPerClass verifies the shares of c against the golden ones.
func wantPerClass(t *testing.T, c *Confusion, want perClass) {
	t.Helper()
	var got perClass
	got.Precision, got.Recall, got.F1 = c.PerClass(len(want.F1))
	for k := range want.F1 {
		if !agrees(got.Precision[k], want.Precision[k]) || !agrees(got.Recall[k], want.Recall[k]) || !agrees(got.F1[k], want.F1[k]) {
			t.Errorf("class %d: precision %g, recall %g, f1 %g, want %g, %g, %g",
				k, got.Precision[k], got.Recall[k], got.F1[k], want.Precision[k], want.Recall[k], want.F1[k])
		}
	}
}

// TestMetricsAreScikitLearns verifies the metrics of two classes, and of seven classes,
// one without examples and one that is never predicted.
func TestMetricsAreScikitLearns(t *testing.T) {
	g := readGoldenMetrics(t)
	t.Run("classes", func(t *testing.T) {
		want := &g.Classes
		scores := tensor.Matrix{Rows: len(want.Scores), Cols: len(want.Scores[0])}
		for _, row := range want.Scores {
			scores.Data = append(scores.Data, row...)
		}
		var c Confusion
		c.Count(scores, want.Labels, 0.5)
		if got := c.Matrix(scores.Cols); !reflect.DeepEqual(got, want.Confusion) {
			t.Errorf("confusion %v, want %v", got, want.Confusion)
		}
		wantPerClass(t, &c, want.perClass)
		for i, n := range want.Top {
			if got := InTopK(scores, want.Labels, i+1); got != n {
				t.Errorf("%d examples in the top %d, want %d", got, i+1, n)
			}
		}
		if got := LogLoss(scores, want.Labels); !agrees(got, want.LogLoss) {
			t.Errorf("log loss %g, want %g", got, want.LogLoss)
		}
	})
	t.Run("binary", func(t *testing.T) {
		want := &g.Binary
		scores := tensor.Matrix{Rows: len(want.Scores), Cols: 1, Data: want.Scores}
		var c Confusion
		c.Count(scores, want.Labels, 0.5)
		wantPerClass(t, &c, want.perClass)
		loss := LogLoss(scores, want.Labels)
		if !agrees(loss, want.LogLoss) {
			t.Errorf("log loss %g, want %g", loss, want.LogLoss)
		}
		positives, n := 0.0, float64(len(want.Labels))
		for _, y := range want.Labels {
			positives += float64(y)
		}
		if got := NormalizedEntropy(loss/n, positives, n); !agrees(got, want.NormalizedEntropy) {
			t.Errorf("normalized entropy %g, want %g", got, want.NormalizedEntropy)
		}
		var cal Calibration
		cal.Add(want.Scores, want.Labels, nil)
		if got := cal.Ratio(); !agrees(got, want.Calibration) || cal.Positives() != positives {
			t.Errorf("calibration %g, want %g", got, want.Calibration)
		}
	})
}

// TestConfusionParts verifies that the sums of partial counts, in any order, equal the
// whole, and that Cells is ordered.
func TestConfusionParts(t *testing.T) {
	var whole, a, b Confusion
	cells := []Cell{{0, 1, 3}, {1, 1, 4}, {1, 2, 5}, {2, 0, 6}}
	for i, n := range cells {
		whole.Add(n)
		half := Cell{n.Class, n.Predicted, 1}
		[]*Confusion{&a, &b}[i%2].Add(half)
		n.Examples--
		b.Add(n)
	}
	for _, n := range a.Cells() {
		b.Add(n)
	}
	if got := b.Cells(); !reflect.DeepEqual(got, cells) || !reflect.DeepEqual(whole.Cells(), cells) {
		t.Errorf("cells %v of parts, %v of the whole, want %v", got, whole.Cells(), cells)
	}
	b.Reset()
	if got := b.Cells(); len(got) != 0 {
		t.Errorf("cells %v after Reset, want none", got)
	}
}

// TestMetricsAtTheEdge verifies the documented results for divisors of 0, ties, NaN, and
// scores of 0 and 1.
func TestMetricsAtTheEdge(t *testing.T) {
	nan := float32(math.NaN())
	ties := tensor.Matrix{Rows: 4, Cols: 3, Data: []float32{1, 1, 0, 1, 1, 0, nan, 1, 0, 0, 1, nan}}
	for k, want := range []int64{0, 1, 3, 3} { // the score of the third example's class is NaN
		if got := InTopK(ties, []float32{0, 1, 0, 1}, k); got != want {
			t.Errorf("%d examples in the top %d, want %d", got, k, want)
		}
	}
	sure := tensor.Matrix{Rows: 2, Cols: 1, Data: []float32{0, 1}}
	if got, want := LogLoss(sure, []float32{1, 0}), -2*math.Log(1e-7); math.Abs(got-want) > 1e-6 {
		t.Errorf("log loss %g of what is sure and wrong, want %g", got, want)
	}
	if got := NormalizedEntropy(0.5, 0, 3); !math.IsNaN(got) {
		t.Errorf("normalized entropy %g without positives, want NaN", got)
	}
	var ones Calibration // of positives alone, the sum of whose weights depends on the order
	ones.Add([]float32{0.1, 0.9, 0.3, 0.1, 0.5, 0.3, 0.9}, []float32{1, 1, 1, 1, 1, 1, 1}, []float32{1e9, 1e-3, 1e-3, 0.1, 3e8, 1e-3, 0.7})
	if got := NormalizedEntropy(0.5, ones.Positives(), ones.Weight()); !math.IsNaN(got) {
		t.Errorf("normalized entropy of one class is %v, want NaN", got)
	}
	var c Calibration
	c.Add([]float32{0.5}, []float32{0}, nil)
	if got := c.Ratio(); !math.IsInf(got, 1) {
		t.Errorf("calibration %g without positives, want +Inf", got)
	}
}

// TestCalibrationBuckets verifies the bucket of each score, also at the limits and
// beyond, with weights, and that Merge of parts equals the whole.
func TestCalibrationBuckets(t *testing.T) {
	scores := []float32{0, 0.05, 0.1, 0.15, 0.95, 1, -1, 2}
	labels := []float32{0, 1, 0, 1, 1, 0, 0, 1}
	var whole, part Calibration
	whole.Add(scores[:3], labels[:3], []float32{1, 0.5, 1})
	part.Add(scores[3:], labels[3:], []float32{2, 0})
	whole.Merge(&part)
	want := Calibration{0: {-0.975, 2.5, 0.5, 3}, 1: {0.4, 3, 2, 2}, 9: {3, 2, 1, 2}}
	for k := range want {
		got := whole[k]
		if math.Abs(got.Scores-want[k].Scores) > 1e-6 || got.Weight != want[k].Weight || got.Positives != want[k].Positives || got.Examples != want[k].Examples {
			t.Errorf("bucket %d is %v, want %v", k, got, want[k])
		}
	}
	part.Add([]float32{float32(math.NaN())}, []float32{1}, nil)
	if !math.IsNaN(part.Ratio()) {
		t.Errorf("ratio %g with a score that is NaN, want NaN", part.Ratio())
	}
}
