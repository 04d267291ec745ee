package evaluate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ringtrain/model"
	"ringtrain/model/train/report"
)

// baseline returns the metrics of predictions that know the labels alone: the weight of the examples of each class, or
// of a regression the weight of all and the squares around their mean.
func baseline(classes []float64, squares, weight float64) *report.Baseline {
	if len(classes) == 0 {
		return &report.Baseline{RMSE: report.NewNumber(model.RMSE(squares, weight))}
	}
	loss := 0.0
	for _, w := range classes {
		if p := w / weight; p > 0 {
			loss -= float64(p * math.Log(p))
		}
	}
	b := &report.Baseline{Accuracy: report.NewNumber(slices.Max(classes) / weight), LogLoss: report.NewNumber(loss)}
	if len(classes) == 2 {
		b.AUC = report.NewNumber(0.5)
	}
	return b
}

// NotBetter describes a model of which no metric is better than that of the baseline. It returns "" for other
// models, without a baseline, and if all labels are equal, which decides nothing.
func NotBetter(m *report.Metrics) string {
	b := m.Baseline
	if b == nil || b.LogLoss != nil && *b.LogLoss == 0 || b.RMSE != nil && *b.RMSE == 0 {
		return ""
	}
	var lost []string
	for _, c := range []struct {
		name, rival string
		sign        report.Number // 1 if larger is better, -1 if lower is
		model, base *report.Number
	}{
		{"accuracy", "the largest class alone", 1, m.Accuracy, b.Accuracy},
		{"log loss", "the share of each class", -1, m.LogLoss, b.LogLoss},
		{"RMSE", "the mean", -1, m.RMSE, b.RMSE},
		{"AUC", "chance", 1, m.AUC, b.AUC},
	} {
		switch {
		case c.model == nil || c.base == nil: // it does not fit the model
		case (*c.model)*c.sign > (*c.base)*c.sign:
			return ""
		default:
			lost = append(lost, fmt.Sprintf("%s is %.4g, %s gives %.4g", c.name, *c.model, c.rival, *c.base))
		}
	}
	return fmt.Sprintf("the model has learnt nothing that holds on the %s records: %s", m.Split, strings.Join(lost, "; "))
}
