package evaluate

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"ringtrain/model"
	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
	"ringtrain/ring"
	"ringtrain/ring/ringtest"
)

// thresholdOf counts, one example after the other, what a threshold makes of examples with weights.
func thresholdOf(threshold float64, scores, labels, weights []float32) report.Threshold {
	var said, hit, yes, all float64
	for i, s := range scores {
		w := float64(weights[i])
		all += w
		if labels[i] > 0 {
			yes += w
		}
		if float64(s) <= threshold {
			continue
		}
		said += w
		if labels[i] > 0 {
			hit += w
		}
	}
	share := func(part, of float64) report.Number {
		if of == 0 {
			return 0
		}
		return report.Number(part / of)
	}
	return report.Threshold{
		Threshold: report.Number(threshold), Precision: share(hit, said), Recall: share(hit, yes),
		F1: share(2*hit, said+yes), Predicted: share(said, all),
	}
}

func sameThreshold(a, b report.Threshold) bool {
	for _, pair := range [][2]report.Number{{a.Threshold, b.Threshold}, {a.Precision, b.Precision}, {a.Recall, b.Recall}, {a.F1, b.F1}, {a.Predicted, b.Predicted}} {
		if traintest.Far(float64(pair[0]), float64(pair[1]), 1e-12) {
			return false
		}
	}
	return true
}

// TestThresholds draws scores with many ties, some equal to a fixed threshold, and verifies each fixed threshold and
// the best F1 against all thresholds, without and with weights, among them 0, on one rank and on three.
func TestThresholds(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 3))
		weighs, world := seed%2 == 1, 1+2*int(seed/2%2)
		rankings, weighted := make([]model.Ranking, world), make([]weighted, world)
		var list, labels, weights []float32
		var all numbers
		for i := range 120 {
			s, y, w := []float32{float32(r.IntN(41)) / 40}, []float32{float32(r.IntN(4) / 3)}, []float32{1}
			if seed >= 8 {
				s[0] = r.Float32()
			}
			if rank := i % world; weighs && r.IntN(2) == 0 {
				w[0] = float32(r.IntN(5))
				weighted[rank].add(s, y, w)
			} else {
				rankings[rank].Add(s, y)
			}
			list, labels, weights = append(list, s...), append(labels, y...), append(weights, w...)
			if y[0] > 0 {
				all.positives++
			} else {
				all.negatives++
			}
		}
		ringtest.Run(t, world, ring.DefaultConfig(), func(g *ring.Group) error {
			rank := g.Membership().Rank
			var got thresholds
			var mine scores = &plain{ranking: &rankings[rank]}
			m := merger{tie: tieBytes, at: &got, area: &plainArea{all: all}}
			rankings[rank].Sort()
			if weighs {
				sum, err := weighted[rank].all(t.Context(), g, &rankings[rank])
				if err != nil {
					return err
				}
				m.tie, m.area = weightedBytes, &weightedArea{all: sum, records: plainArea{all: all}}
				mine = weighted[rank].sorted(&rankings[rank])
			}
			if err := m.count(t.Context(), g, mine); err != nil {
				return err
			}
			verifyThresholds(t, &got, list, labels, weights)
			return nil
		})
	}
}

func verifyThresholds(t *testing.T, got *thresholds, scores, labels, weights []float32) {
	t.Helper()
	if len(got.fixed) != fixedThresholds || got.best == nil {
		t.Errorf("%d thresholds, best %v, want %d and a best", len(got.fixed), got.best, fixedThresholds)
		return
	}
	for k, at := range got.fixed {
		if want := thresholdOf(float64(k+1)/20, scores, labels, weights); !sameThreshold(at, want) {
			t.Errorf("threshold %+v, want %+v", at, want)
		}
	}
	best := thresholdOf(0, scores, labels, weights)
	for _, s := range scores {
		if at := thresholdOf(float64(s), scores, labels, weights); at.F1 > best.F1 {
			best = at
		}
	}
	if again := thresholdOf(float64(got.best.Threshold), scores, labels, weights); got.best.F1 != best.F1 || !sameThreshold(*got.best, again) {
		t.Errorf("best %+v, which is %+v, want the F1 of %+v", *got.best, again, best)
	}
	hits, alarms := int64(0), int64(0)
	for i, s := range scores {
		switch {
		case float64(s) <= float64(got.best.Threshold):
		case labels[i] > 0:
			hits++
		default:
			alarms++
		}
	}
	if got.made.hitRecords != hits || got.made.alarmRecords != alarms {
		t.Errorf("%d and %d records are above the best threshold, want %d and %d", got.made.hitRecords, got.made.alarmRecords, hits, alarms)
	}
}

// TestBestF1Decides verifies that best_f1 gives the metrics that its threshold gives as a number, with and without
// weights, and that records of one class have none.
func TestBestF1Decides(t *testing.T) {
	cfg, data := loadText(t, clicksText), clicksData()
	m := randomModel(t, cfg, data)
	r := rand.New(rand.NewPCG(5, 6))
	plain, weighs := weighing{Dataset: data.Eval}, weighing{Dataset: data.Eval}
	for range data.Eval.Facts().Records {
		plain.weights, weighs.weights = append(plain.weights, 1), append(weighs.weights, float32(r.IntN(3)))
	}
	for _, d := range []weighing{plain, weighs} {
		got := evaluatedBy(t, &Evaluator{Model: m, Data: d, Split: "eval", Threshold: 0.5, BestF1: true})
		if *got.Threshold != got.BestF1.Threshold || *got.Threshold == 0.5 {
			t.Errorf("the threshold is %v, want that of %+v", *got.Threshold, got.BestF1)
		}
		want := evaluatedBy(t, &Evaluator{Model: m, Data: d, Split: "eval", Threshold: float64(*got.Threshold)})
		if traintest.Far(float64(*got.Accuracy), float64(*want.Accuracy), 1e-12) {
			t.Errorf("accuracy %v, want %v", *got.Accuracy, *want.Accuracy)
		}
		got.Accuracy = want.Accuracy
		if !reflect.DeepEqual(got, want) {
			t.Errorf("metrics %s, want %s", traintest.JSON(t, got), traintest.JSON(t, want))
		}
	}
	none := only(t, data.Eval, 0)
	got := evaluatedBy(t, &Evaluator{Model: m, Data: none, Split: "eval", Threshold: 0.5, BestF1: true})
	if got.BestF1 != nil || *got.Threshold != 0.5 || len(got.Thresholds) != fixedThresholds || got.Thresholds[0].Recall != 0 {
		t.Errorf("metrics of one class %s, want no best F1", traintest.JSON(t, got))
	}
}

// TestR2OfEqualLabels verifies that r2 is NaN if all labels are equal.
func TestR2OfEqualLabels(t *testing.T) {
	cfg, data := loadText(t, linearText), linearData()
	same := repeated{data.Eval, []int{3, 3, 3}}
	if got := evaluatedBy(t, &Evaluator{Model: randomModel(t, cfg, data), Data: same, Split: "eval"}); !math.IsNaN(float64(*got.R2)) {
		t.Errorf("r2 is %v, want NaN", *got.R2)
	}
}

// TestTwoClassesOfSoftmax verifies that softmax of two classes has the metrics of sigmoid, whose score is the difference
// of the two outputs.
func TestTwoClassesOfSoftmax(t *testing.T) {
	softmax, data := loadText(t, clicksText, "loss.kind=softmax", "model.classes=2", "eval.threshold=0.4"), clicksData()
	sigmoid := loadText(t, clicksText)
	two, one := randomModel(t, softmax, data), randomModel(t, sigmoid, data)
	for i, v := range two.Variables() {
		for k := range one.Variables()[i].Value {
			one.Variables()[i].Value[k] = v.Value[2*k+1] - v.Value[2*k]
		}
	}
	got := evaluatedBy(t, &Evaluator{Model: two, Data: data.Eval, Split: "eval", Threshold: 0.4, TopK: 1})
	want := evaluatedBy(t, &Evaluator{Model: one, Data: data.Eval, Split: "eval", Threshold: 0.4})
	for name, pair := range map[string][2]*report.Number{"auc": {got.AUC, want.AUC}, "accuracy": {got.Accuracy, want.Accuracy}, "f1": {&got.BestF1.F1, &want.BestF1.F1}, "log_loss": {got.LogLoss, want.LogLoss}} {
		if traintest.Far(float64(*pair[0]), float64(*pair[1]), 1e-3) {
			t.Errorf("%s is %v, want %v", name, *pair[0], *pair[1])
		}
	}
	if got.TopK == nil || len(got.Thresholds) != fixedThresholds || *got.Threshold != 0.4 {
		t.Errorf("metrics %s", traintest.JSON(t, got))
	}
}
