package evaluate

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/model/graph"
	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
)

// only is a data set of the records with one label.
func only(t *testing.T, d input.Dataset, label float32) repeated {
	t.Helper()
	r := repeated{Dataset: d}
	for i := range d.Facts().Records {
		if labelOf(t, d, i) == label {
			r.records = append(r.records, i)
		}
	}
	if len(r.records) == 0 {
		t.Fatalf("no record has the label %v", label)
	}
	return r
}

func labelOf(t *testing.T, d input.Dataset, i int) float32 {
	t.Helper()
	var b input.Batch
	if err := input.ReadRecords(&b, d, i, i+1, false); err != nil {
		t.Fatal(err)
	}
	return b.Y[0]
}

// TestConstant verifies the loss of the constant prediction and the baseline, of each kind of model, with weights of
// many sizes and with smoothed labels, against the loss of each record; and that it is 0 if all
// labels are equal.
func TestConstant(t *testing.T) {
	for _, tt := range jobs {
		for _, smoothing := range []string{"0", "0.25"} {
			if tt.name == "linear" && smoothing != "0" {
				continue
			}
			cfg, data := loadText(t, tt.text, "loss.label_smoothing="+smoothing), tt.data()
			m := randomModel(t, cfg, data)
			r := rand.New(rand.NewPCG(5, 6))
			plain, d := weighing{Dataset: data.Eval}, weighing{Dataset: data.Eval}
			for i := range data.Eval.Facts().Records {
				w := float32(1)
				if i%768 >= 200 || tt.name == "linear" {
					w = float32(math.Exp(5 * r.NormFloat64()))
				}
				plain.weights, d.weights = append(plain.weights, 1), append(d.weights, w)
			}
			for _, set := range []weighing{plain, d} {
				got := evaluatedBy(t, &Evaluator{Model: m, Data: set, Split: "eval"})
				checkBaseline(t, set, m.Graph().Head.Classes, &got)
				if want := constantOf(t, set, m.Graph().Head.Classes, cfg.Loss.LabelSmoothing); traintest.Far(float64(got.Constant), want, 1e-8) {
					t.Errorf("job=%s smoothing=%s weight=%v: the constant's loss is %v, want %v", tt.name, smoothing, set.weights[250%len(set.weights)], got.Constant, want)
				}
			}
			same := only(t, data.Eval, labelOf(t, data.Eval, 0))
			if got := evaluatedBy(t, &Evaluator{Model: m, Data: same, Split: "eval"}); got.Constant != 0 {
				t.Errorf("job=%s smoothing=%s: the constant's loss of equal labels is %v, want 0", tt.name, smoothing, got.Constant)
			}
		}
	}
}

// checkBaseline verifies the baseline of an evaluation against the labels, record by record.
func checkBaseline(t *testing.T, d weighing, classes int, m *report.Metrics) {
	t.Helper()
	var all, sum, squares float64
	of := map[float32]float64{}
	for i := range d.Facts().Records {
		label, w := labelOf(t, d.Dataset, i), float64(d.weights[i])
		all, sum, of[label] = all+w, sum+w*float64(label), of[label]+w
	}
	largest, loss := 0.0, 0.0
	for label, w := range of {
		squares += w * (float64(label) - sum/all) * (float64(label) - sum/all)
		largest, loss = max(largest, w/all), loss-w/all*math.Log(w/all)
	}
	want := report.Baseline{RMSE: report.NewNumber(math.Sqrt(squares / all))}
	if classes > 0 {
		want = report.Baseline{Accuracy: report.NewNumber(largest), LogLoss: report.NewNumber(loss)}
	}
	if classes == 2 {
		want.AUC = report.NewNumber(0.5)
	}
	for _, n := range [][2]*report.Number{{m.Baseline.Accuracy, want.Accuracy}, {m.Baseline.LogLoss, want.LogLoss}, {m.Baseline.RMSE, want.RMSE}, {m.Baseline.AUC, want.AUC}} {
		if (n[0] == nil) != (n[1] == nil) || n[0] != nil && traintest.Far(float64(*n[0]), float64(*n[1]), 1e-9) {
			t.Errorf("the baseline is %s, want %s", traintest.JSON(t, m.Baseline), traintest.JSON(t, want))
		}
	}
}

// TestNotBetter verifies that a model is no worse than its baseline once one metric is better, that NaN is not, and that
// labels that are all equal decide nothing.
func TestNotBetter(t *testing.T) {
	n := report.NewNumber
	base := &report.Baseline{Accuracy: n(0.75), LogLoss: n(0.56), AUC: n(0.5)}
	for _, tt := range []struct {
		name string
		m    report.Metrics
		want string // in the text; "": better
	}{
		{"better", report.Metrics{Accuracy: n(0.8), LogLoss: n(0.4), AUC: n(0.9), Baseline: base}, ""},
		{"AUC alone", report.Metrics{Accuracy: n(0.75), LogLoss: n(0.6), AUC: n(0.7), Baseline: base}, ""},
		{"equal", report.Metrics{Split: "eval", Accuracy: n(0.75), LogLoss: n(0.56), AUC: n(0.5), Baseline: base}, "eval records: accuracy is 0.75, the largest class alone gives 0.75; log loss is 0.56, the share of each class gives 0.56; AUC is 0.5, chance gives 0.5"},
		{"NaN", report.Metrics{RMSE: n(math.NaN()), Baseline: &report.Baseline{RMSE: n(2)}}, "RMSE is NaN, the mean gives 2"},
		{"regression", report.Metrics{RMSE: n(1), Baseline: &report.Baseline{RMSE: n(2)}}, ""},
		{"no baseline", report.Metrics{RMSE: n(1)}, ""},
		{"labels of one class", report.Metrics{Accuracy: n(1), LogLoss: n(0.001), Baseline: &report.Baseline{Accuracy: n(1), LogLoss: n(0)}}, ""},
		{"equal labels", report.Metrics{RMSE: n(0.001), Baseline: &report.Baseline{RMSE: n(0)}}, ""},
	} {
		if got := NotBetter(&tt.m); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// constantOf returns the mean loss of the mean target, summed record by record.
func constantOf(t *testing.T, d weighing, classes int, smoothing float64) float64 {
	t.Helper()
	targets := func(i int) []float64 {
		label := float64(labelOf(t, d.Dataset, i))
		if classes == 0 {
			return []float64{label}
		}
		one := make([]float64, classes)
		for k := range one {
			one[k] = smoothing / float64(classes)
		}
		one[int(label)] += 1 - smoothing
		return one
	}
	mean, weight := make([]float64, max(classes, 1)), 0.0
	for i := range d.Facts().Records {
		weight += float64(d.weights[i])
		for k, v := range targets(i) {
			mean[k] += float64(d.weights[i]) * v
		}
	}
	loss := 0.0
	for i := range d.Facts().Records {
		for k, v := range targets(i) {
			if m := mean[k] / weight; classes == 0 {
				loss += float64(d.weights[i]) * (m - v) * (m - v)
			} else if v > 0 {
				loss -= float64(d.weights[i]) * v * math.Log(m)
			}
		}
	}
	return loss / weight
}

// TestSpreadOfLargeLabels verifies that the spread of labels around 1e9, in any number of parts, keeps
// its digits.
func TestSpreadOfLargeLabels(t *testing.T) {
	var y []float32
	for i := range 1024 {
		y = append(y, 1e9+float32(64*(i%3)))
	}
	one := func(int) float64 { return 1 }
	whole, parts := spreadOf(y, one, graph.Head{}.Unit), spread{}
	for at := 0; at < len(y); at += 100 {
		part := y[at:min(at+100, len(y))]
		parts.merge(spreadOf(part, one, graph.Head{}.Unit), float64(at), float64(len(part)))
	}
	want := 64 * 64 * (341*(1+4) - float64(341*3)*(341*3)/1024)
	for _, got := range []spread{whole, parts} {
		if traintest.Far(got.squares, want, 1e-9) {
			t.Errorf("the squares are %v, want %v", got.squares, want)
		}
	}
}
