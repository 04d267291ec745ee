package job

import (
	"strings"

	"ringtrain/model/train/report"
)

// metric is a number of an evaluation that a job may name.
type metric struct {
	name   string
	better direction              // by which a run can look for the best
	has    func(classes int) bool // models of so many classes, 0 of a regression, have the metric
}

// direction is that in which a metric becomes better.
type direction int

const (
	neither direction = iota // no run ends by it
	lower
	higher
)

// metrics is the only list of them.
var metrics = []metric{
	{"loss", lower, func(int) bool { return true }},
	{"accuracy", higher, ofClasses},
	{"auc", higher, ofTwo},
	{"rmse", lower, ofNumbers},
	{"log_loss", lower, ofClasses},
	{"normalized_entropy", lower, ofTwo},
	{"mae", neither, ofNumbers},
	{"r2", neither, ofNumbers},
	{"top_k", neither, ofMany},
	{"calibration", neither, ofTwo},
}

func ofNumbers(classes int) bool { return classes == 0 }
func ofClasses(classes int) bool { return classes > 0 }
func ofTwo(classes int) bool     { return classes == 2 }
func ofMany(classes int) bool    { return classes > 2 }

// stops reports whether a run can look for the best value of the metric.
func (m metric) stops() bool { return m.better != neither }

// metricNames returns the names of the metrics of models with so many classes, of all models if it is negative, of which
// is is true; nil for all.
func metricNames(classes int, is func(metric) bool) []string {
	var names []string
	for _, m := range metrics {
		if (classes < 0 || m.has(classes)) && (is == nil || is(m)) {
			names = append(names, m.name)
		}
	}
	return names
}

// metricOf returns the metric with a name.
func metricOf(name string) (of metric, known bool) {
	for _, m := range metrics {
		if m.name == name {
			return m, true
		}
	}
	return metric{}, false
}

// MetricsOf returns the metrics of an evaluation by name.
func MetricsOf(m *report.Metrics) map[string]float64 {
	all := map[string]float64{}
	for _, n := range m.Numbers() {
		all[n.Name] = float64(n.Value)
	}
	return all
}

// StopMetric is the name of a metric that can end a run.
type StopMetric string

// Takes returns the names of all.
func (StopMetric) Takes() string { return strings.Join(metricNames(-1, metric.stops), ", ") }
