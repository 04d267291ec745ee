package show

import (
	"strings"
	"testing"

	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
)

// TestMetricsTable verifies the table of eval for two classes.
func TestMetricsTable(t *testing.T) {
	m := report.Metrics{
		Precision: []report.Number{0.5, 1}, Recall: []report.Number{1, 0.25}, F1: []report.Number{0.6668, 0.4},
		Confusion: [][]int64{{100, 0}, {3, 1}},
		Thresholds: []report.Threshold{
			{Threshold: 0.05, Precision: 0.5, Recall: 1, F1: 0.6668, Predicted: 1}, {Threshold: 0.1, Precision: 1, Recall: 0.25, F1: 0.4, Predicted: 0.125},
		},
		BestF1:  &report.Threshold{Threshold: 0.07654, Precision: 0.75, Recall: 1, F1: 0.8572, Predicted: 0.5},
		Buckets: []report.CalibrationBucket{{From: 0.1, To: 0.2, Examples: 104, Predicted: 0.125, Observed: 0.0385}},
	}
	var b strings.Builder
	MetricsTable(&b, m)
	want := `  class  precision  recall      f1
      0     0.5000  1.0000  0.6668
      1     1.0000  0.2500  0.4000
   mean     0.7500  0.6250  0.5334
       score  examples  predicted  observed
  0.1 to 0.2       104     0.1250    0.0385
           threshold  precision  recall      f1  predicted
                0.05     0.5000  1.0000  0.6668     1.0000
                 0.1     1.0000  0.2500  0.4000     0.1250
  best f1 at 0.07654     0.7500  1.0000  0.8572     0.5000
examples by class (row) and prediction (column)
       0  1
  0  100  0
  1    3  1
`
	if b.String() != want {
		t.Errorf("table\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	m.Classes, m.Buckets, m.Thresholds, m.BestF1 = []string{"<=50K", "over\t"}, nil, nil, nil
	MetricsTable(&b, m)
	want = `  class  precision  recall      f1
  <=50K     0.5000  1.0000  0.6668
  over?     1.0000  0.2500  0.4000
   mean     0.7500  0.6250  0.5334
examples by class (row) and prediction (column)
         <=50K  over?
  <=50K    100      0
  over?      3      1
`
	if b.String() != want {
		t.Errorf("table of classes with names\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	MetricsTable(&b, report.Metrics{})
	if b.Len() != 0 {
		t.Errorf("table %q of a regression, want none", b.String())
	}
}

// TestImportanceTable verifies the table of eval --importance, with and without AUC.
func TestImportanceTable(t *testing.T) {
	area, deviation := report.Number(0.25), report.Number(0.0125)
	for want, columns := range map[string][]trained.Importance{
		"column  loss           AUC\na\\tb    +0.5 ± 0.0012  -0.25 ± 0.013\n": {{Column: "a\tb", Loss: 0.5, LossDeviation: 0.00123, AUC: &area, AUCDeviation: &deviation}},
		"column  loss\nc       -0.125 ± 0\n":                                  {{Column: "c", Loss: -0.125}},
	} {
		var b strings.Builder
		ImportanceTable(&b, columns)
		if b.String() != want {
			t.Errorf("table\n%q\nwant\n%q", b.String(), want)
		}
	}
}
