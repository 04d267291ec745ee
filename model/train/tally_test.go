package train

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"ringtrain/model"
)

// TestMetricsByClass verifies the metrics by class and of probabilities: each is computed
// here from the predictions of single records, by its definition.
func TestMetricsByClass(t *testing.T) {
	t.Run("job=digits", func(t *testing.T) {
		job, data := loadText(t, digitsText), digitsData()
		m := randomModel(t, job, data)
		confusion := make([][]int64, 10)
		for k := range confusion {
			confusion[k] = make([]int64, 10)
		}
		top := 0.0
		each(t, data.Eval, m, func(scores []float32, y float32) {
			best, before := 0, 0
			for k, s := range scores {
				if s > scores[best] {
					best = k
				}
				if s > scores[int(y)] {
					before++
				}
			}
			confusion[int(y)][best]++
			if before < 3 {
				top++
			}
		})
		e := Evaluator{Model: m, Data: data.Eval, Split: "eval", TopK: 3}
		got := evaluatedBy(t, &e)
		n := float64(data.Eval.Len())
		if !reflect.DeepEqual(got.Confusion, confusion) {
			t.Errorf("confusion %v, want %v", got.Confusion, confusion)
		}
		if far(float64(*got.TopK), top/n, 1e-12) || *got.TopK <= *got.Accuracy || far(float64(*got.LogLoss), float64(got.Loss), 1e-5) {
			t.Errorf("metrics are %s, want top_k %g, log_loss as loss", asJSON(t, got), top/n)
		}
		if len(got.Precision) != 10 || len(got.Recall) != 10 || len(got.F1) != 10 || got.Calibration != nil {
			t.Errorf("metrics are %s, want three lists of ten and no calibration", asJSON(t, got))
		}
	})
	t.Run("job=clicks", func(t *testing.T) {
		job, data := loadText(t, clicksText), clicksData()
		m := randomModel(t, job, data)
		var sum, yes, said, hit float64
		each(t, data.Eval, m, func(scores []float32, y float32) {
			sum += float64(scores[0])
			yes += float64(y)
			if scores[0] > 0.5 {
				said++
				hit += float64(y)
			}
		})
		got := evaluated(t, m, data)
		rate := yes / float64(data.Eval.Len())
		entropy := -rate*math.Log(rate) - (1-rate)*math.Log(1-rate)
		if far(float64(*got.Calibration), sum/yes, 1e-9) || far(float64(*got.NormalizedEntropy), float64(*got.LogLoss)/entropy, 1e-9) || got.TopK != nil {
			t.Errorf("metrics are %s, want calibration %g and normalized entropy by %g", asJSON(t, got), sum/yes, entropy)
		}
		if far(float64(got.Precision[1]), hit/said, 1e-12) || far(float64(got.Recall[1]), hit/yes, 1e-12) {
			t.Errorf("metrics are %s, want precision %g and recall %g", asJSON(t, got), hit/said, hit/yes)
		}
	})
}

// TestTakeCells verifies that the counts of a rank are taken as they were sent, and that
// others are refused.
func TestTakeCells(t *testing.T) {
	cells := []model.Cell{{Class: 0, Predicted: 2, Examples: 3}, {Class: 1, Predicted: 1, Examples: 4}}
	sent := appendCells(nil, cells)
	var c model.Confusion
	if err := takeCells(&c, sent, 7, 3); err != nil || !reflect.DeepEqual(c.Cells(), cells) {
		t.Errorf("cells %v, error %v, want %v", c.Cells(), err, cells)
	}
	for _, tt := range []struct {
		name             string
		b                []byte
		records, classes int
		want             string
	}{
		{"cut", sent[:20], 7, 3, "20 bytes of counts"},
		{"too few records", sent, 8, 3, "counts of 7 records, want 8"},
		{"none", nil, 1, 3, "counts of 0 records, want 1"},
		{"class beyond", sent, 7, 2, "class 0 predicted as 2, want less than 2"},
	} {
		if err := takeCells(new(model.Confusion), tt.b, tt.records, tt.classes); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}
