package evaluate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// randomModel returns the job's model with values that look trained.
func randomModel(t testing.TB, cfg *job.Config, data records.Set) *model.Model {
	t.Helper()
	m, err := data.NewModel(cfg)
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
	return m
}

// TestEvaluatorBits verifies that metrics of equal variables have the same bits on every rank and
// at any world size.
func TestEvaluatorBits(t *testing.T) {
	tests := []struct {
		name, text string
		data       records.Set
	}{
		{"linear", linearText, linearData()}, // one block: ranks without any
		{"digits", digitsText, digitsData()},
		{"clicks", clicksText, clicksData()},
	}
	for _, tt := range tests {
		t.Run("job="+tt.name, func(t *testing.T) {
			cfg := loadText(t, tt.text)
			var want report.Metrics
			for i, p := range []int{1, 2, 3, 5} {
				got := make([]report.Metrics, p)
				ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
					e := Evaluator{Model: randomModel(t, cfg, tt.data), Data: tt.data.Eval, Split: tt.data.Split, TopK: 3}
					var err error
					for range 2 { // the second time in used memory
						got[g.Membership().Rank], err = e.Run(t.Context(), t.Context(), g)
					}
					return err
				})
				if i == 0 {
					want = got[0]
				}
				for rank := range got {
					if !reflect.DeepEqual(got[rank], want) {
						t.Errorf("world=%d: rank %d has %s, want %s", p, rank, traintest.JSON(t, got[rank]), traintest.JSON(t, want))
					}
				}
			}
		})
	}
}

// TestMetrics verifies each metric against its definition, computed from the predictions of single
// records.
func TestMetrics(t *testing.T) {
	t.Run("job=linear", func(t *testing.T) {
		cfg, data := loadText(t, linearText), linearData()
		m := randomModel(t, cfg, data)
		var sum, off, labels, squares float64
		each(t, data.Eval, m, func(scores []float32, y float32) {
			sum += math.Pow(float64(scores[0])-float64(y), 2)
			off += math.Abs(float64(scores[0]) - float64(y))
			labels += float64(y)
			squares += float64(y) * float64(y)
		})
		got := evaluated(t, m, data)
		n := float64(data.Eval.Facts().Records)
		if r2 := 1 - sum/(squares-labels*labels/n); traintest.Far(float64(*got.MAE), off/n, 1e-6) || traintest.Far(float64(*got.R2), r2, 1e-6) {
			t.Errorf("metrics are %s, want mae %g, r2 %g", traintest.JSON(t, got), off/n, r2)
		}
		want := sum / n
		if traintest.Far(float64(got.Loss), want, 1e-6) || traintest.Far(float64(*got.RMSE), math.Sqrt(want), 1e-6) || got.Accuracy != nil || got.AUC != nil {
			t.Errorf("metrics are %s, want loss %g, rmse %g", traintest.JSON(t, got), want, math.Sqrt(want))
		}
	})
	t.Run("job=digits", func(t *testing.T) {
		cfg, data := loadText(t, digitsText), digitsData()
		m := randomModel(t, cfg, data)
		sum, right := 0.0, int64(0)
		each(t, data.Eval, m, func(scores []float32, y float32) {
			sum -= math.Log(float64(scores[int(y)]))
			if slices.Max(scores) == scores[int(y)] {
				right++
			}
		})
		got := evaluated(t, m, data)
		n := float64(data.Eval.Facts().Records)
		if traintest.Far(float64(got.Loss), sum/n, 1e-5) || *got.Correct != right || traintest.Far(float64(*got.Accuracy), float64(right)/n, 0) || got.AUC != nil {
			t.Errorf("metrics are %s, want loss %g, %d right", traintest.JSON(t, got), sum/n, right)
		}
	})
	t.Run("job=clicks", func(t *testing.T) {
		cfg, data := loadText(t, clicksText), clicksData()
		m := randomModel(t, cfg, data)
		var yes, no []float32 // scores by label
		right := int64(0)
		each(t, data.Eval, m, func(scores []float32, y float32) {
			if y == 1 {
				yes = append(yes, scores[0])
			} else {
				no = append(no, scores[0])
			}
			if (scores[0] > 0.5) == (y == 1) {
				right++
			}
		})
		got := evaluated(t, m, data)
		if want := auc(yes, no); traintest.Far(float64(*got.AUC), want, 1e-12) || *got.Correct != right {
			t.Errorf("metrics are %s, want auc %g, %d right", traintest.JSON(t, got), want, right)
		}
	})
}

// auc is the share of pairs in which the positive example scores higher.
func auc(yes, no []float32) float64 {
	wins := 0.0
	for _, y := range yes {
		for _, n := range no {
			switch {
			case y > n:
				wins++
			case y == n:
				wins += 0.5
			}
		}
	}
	return wins / float64(len(yes)*len(no))
}

// each predicts each record of d alone.
func each(t *testing.T, d input.Dataset, m *model.Model, f func(scores []float32, y float32)) {
	t.Helper()
	var b input.Batch
	for i := range d.Facts().Records {
		if err := input.ReadRecords(&b, d, i, i+1, false); err != nil {
			t.Fatal(err)
		}
		f(m.Predict(&b.X).Row(0), b.Y[0])
	}
}

func evaluated(t *testing.T, m *model.Model, data records.Set) (got report.Metrics) {
	t.Helper()
	return evaluatedBy(t, &Evaluator{Model: m, Data: data.Eval, Split: data.Split, Threshold: 0.5})
}

func evaluatedBy(t *testing.T, e *Evaluator) (got report.Metrics) {
	t.Helper()
	ringtest.Run(t, 1, ring.DefaultConfig(), func(g *ring.Group) error {
		var err error
		got, err = e.Run(t.Context(), t.Context(), g)
		return err
	})
	return got
}

// TestEvaluatorRefuses verifies that no message of a peer makes an evaluation panic or count wrong
// numbers of records.
func TestEvaluatorRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		data       records.Set
		want       int // bytes of rank 1's blocks
	}{
		{"digits", digitsText, digitsData(), 8 + 1*16},
		{"clicks", clicksText, clicksData(), 8 + 2*16 + (1100-3*256)*8},
	} {
		for _, n := range []int{0, 1, 7, 8, 15, tt.want - 16, tt.want - 8, tt.want + 8, tt.want + 16} {
			t.Run(fmt.Sprintf("job=%s/bytes=%d", tt.name, n), func(t *testing.T) {
				cfg := loadText(t, tt.text)
				ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
					if g.Membership().Rank == 1 {
						return g.AllGather(t.Context(), make([]byte, n), new(ring.Gathered))
					}
					e := Evaluator{Model: randomModel(t, cfg, tt.data), Data: tt.data.Eval}
					_, err := e.Run(t.Context(), t.Context(), g)
					if exitcode.Of(err) != exitcode.Protocol {
						t.Errorf("error %v (%d), want code %d", err, exitcode.Of(err), exitcode.Protocol)
					}
					return nil
				})
			})
		}
	}
}
