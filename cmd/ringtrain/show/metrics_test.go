package show

import (
	"strings"
	"testing"

	"ringtrain/model/train/report"
)

// TestMetricsTable verifies the table of eval for two classes.
func TestMetricsTable(t *testing.T) {
	m := report.Metrics{
		Precision: []report.Number{0.5, 1}, Recall: []report.Number{1, 0.25}, F1: []report.Number{0.6668, 0.4},
		Confusion: [][]int64{{100, 0}, {3, 1}},
		Buckets:   []report.CalibrationBucket{{From: 0.1, To: 0.2, Examples: 104, Predicted: 0.125, Observed: 0.0385}},
	}
	var b strings.Builder
	MetricsTable(&b, m)
	want := `  class  precision  recall      f1
      0     0.5000  1.0000  0.6668
      1     1.0000  0.2500  0.4000
   mean     0.7500  0.6250  0.5334
       score  examples  predicted  observed
  0.1 to 0.2       104     0.1250    0.0385
examples by class (row) and prediction (column)
       0  1
  0  100  0
  1    3  1
`
	if b.String() != want {
		t.Errorf("table\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	MetricsTable(&b, report.Metrics{})
	if b.Len() != 0 {
		t.Errorf("table %q of a regression, want none", b.String())
	}
}
