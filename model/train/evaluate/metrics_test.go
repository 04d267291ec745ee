package evaluate

import (
	"math"
	"reflect"
	"testing"

	"ringtrain/model/train/traintest"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// TestMetricsByClass verifies the metrics by class and of probabilities against their definitions,
// computed from the predictions of single records.
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
		n := float64(data.Eval.Facts().Records)
		if !reflect.DeepEqual(got.Confusion, confusion) {
			t.Errorf("confusion %v, want %v", got.Confusion, confusion)
		}
		if traintest.Far(float64(*got.TopK), top/n, 1e-12) || *got.TopK <= *got.Accuracy || traintest.Far(float64(*got.LogLoss), float64(got.Loss), 1e-5) {
			t.Errorf("metrics are %s, want top_k %g, log_loss as loss", traintest.JSON(t, got), top/n)
		}
		if len(got.Precision) != 10 || len(got.Recall) != 10 || len(got.F1) != 10 || got.Calibration != nil {
			t.Errorf("metrics are %s, want three lists of ten and no calibration", traintest.JSON(t, got))
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
		rate := yes / float64(data.Eval.Facts().Records)
		entropy := -rate*math.Log(rate) - (1-rate)*math.Log(1-rate)
		if traintest.Far(float64(*got.Calibration), sum/yes, 1e-9) || traintest.Far(float64(*got.NormalizedEntropy), float64(*got.LogLoss)/entropy, 1e-9) || got.TopK != nil {
			t.Errorf("metrics are %s, want calibration %g and normalized entropy by %g", traintest.JSON(t, got), sum/yes, entropy)
		}
		if traintest.Far(float64(got.Precision[1]), hit/said, 1e-12) || traintest.Far(float64(got.Recall[1]), hit/yes, 1e-12) {
			t.Errorf("metrics are %s, want precision %g and recall %g", traintest.JSON(t, got), hit/said, hit/yes)
		}
	})
}

// TestEvaluatorNaN verifies that a score that is NaN on one rank makes the area NaN on all.
func TestEvaluatorNaN(t *testing.T) {
	job, data := loadText(t, clicksText), clicksData()
	ringtest.Run(t, 3, ring.DefaultConfig(), func(g *ring.Group) error {
		m := randomModel(t, job, data)
		if g.Membership().Rank == 2 {
			for _, v := range m.Variables() {
				v.Value[0] = float32(math.NaN())
			}
		}
		e := Evaluator{Model: m, Data: data.Eval}
		got, err := e.Run(t.Context(), t.Context(), g)
		if err == nil && !math.IsNaN(float64(*got.AUC)) {
			t.Errorf("AUC is %v, want NaN", *got.AUC)
		}
		if code := exitcode.Of(err); err != nil && code == exitcode.Protocol {
			t.Errorf("error %v", err)
		}
		return err
	})
}
