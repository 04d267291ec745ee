package evaluate

import (
	"math"

	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/tensor"
	"ringtrain/model/train/report"
)

// Scored returns the metrics of scores that no model of this process has made. y has a class or a value
// for each row. classes is 0 for a regression, whose loss is the mean squared error; that of classes is the log loss. The
// scores of two classes have one column, that of the second, or two.
func Scored(scores tensor.Matrix, y []float32, classes int) report.Metrics {
	n := float64(len(y))
	m := report.Metrics{Examples: int64(len(y))}
	if classes == 0 {
		one := func(int) float64 { return 1 }
		off, squares := model.Errors(scores.Data, y, graph.Head{}.Unit)
		m.RMSE, m.MAE = report.NewNumber(model.RMSE(squares, n)), report.NewNumber(off/n)
		around := spreadOf(y, one, graph.Head{}.Unit).squares
		m.R2, m.Baseline = report.NewNumber(model.R2(squares, around)), baseline(nil, around, n)
		m.Loss = report.Number(squares / n)
		return m
	}
	byClass := make([]float64, classes)
	for _, label := range y {
		byClass[int(label)]++
	}
	m.Baseline = baseline(byClass, 0, n)
	const threshold = 0.5
	correct := model.Correct(scores, y, threshold)
	m.Correct, m.Accuracy = &correct, report.NewNumber(float64(correct)/n)
	m.Loss = report.Number(model.LogLoss(scores, y) / n)
	m.LogLoss = &m.Loss
	var counts model.Confusion
	counts.Count(scores, y, threshold)
	precision, recall, f1 := counts.PerClass(classes)
	m.Precision, m.Recall, m.F1 = numbersOf64(precision), numbersOf64(recall), numbersOf64(f1)
	if classes <= maxConfusion {
		m.Confusion = counts.Matrix(classes)
	}
	if classes == 2 {
		second := make([]float32, len(y))
		for i := range second {
			second[i] = scores.Row(i)[scores.Cols-1]
		}
		var c model.Calibration
		c.Add(second, y, nil)
		m.AUC, m.Threshold = report.NewNumber(areaOf(second, y)), report.NewNumber(threshold)
		m.NormalizedEntropy = report.NewNumber(model.NormalizedEntropy(float64(m.Loss), c.Positives(), c.Weight()))
		m.Calibration, m.Buckets = report.NewNumber(c.Ratio()), calibrationBuckets(&c)
	}
	return m
}

// areaOf returns the area under the ROC curve, NaN if a score is NaN or the examples have one class only.
func areaOf(scores, y []float32) float64 {
	var r model.Ranking
	r.Add(scores, y)
	if r.Undefined() {
		return math.NaN()
	}
	r.Sort()
	var a model.Area
	for _, t := range r.AppendTies(nil, r.Len()) {
		a.Add(uint64(t.Positives), uint64(t.Negatives))
	}
	return a.Value()
}
