package show

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring/phrase"
)

// maxConfusionShown is the maximum number of classes whose confusion matrix is printed.
const maxConfusionShown = 20

// MetricsTable writes the metrics by class, if there are classes.
func MetricsTable(w io.Writer, m report.Metrics) {
	if len(m.F1) == 0 {
		return
	}
	t := newTable(tabwriter.AlignRight, "class\tprecision\trecall\tf1\t\n")
	for k := range m.F1 {
		fmt.Fprintf(t, "%s\t%.4f\t%.4f\t%.4f\t\n", className(m, k), m.Precision[k], m.Recall[k], m.F1[k])
	}
	fmt.Fprintf(t, "mean\t%.4f\t%.4f\t%.4f\t\n", *report.Mean(m.Precision), *report.Mean(m.Recall), *report.Mean(m.F1))
	t.Flush()
	writeCalibration(t, m.Buckets)
	writeThresholds(t, m)
	if n := len(m.Confusion); n > 0 && n <= maxConfusionShown {
		writeConfusion(t, m)
	}
	t.writeTo(w)
}

// writeConfusion writes how many examples of each class have which prediction.
func writeConfusion(t table, m report.Metrics) {
	fmt.Fprintln(t.text, "examples by class (row) and prediction (column)")
	fmt.Fprint(t, "\t")
	for k := range m.Confusion {
		fmt.Fprint(t, className(m, k)+"\t")
	}
	fmt.Fprintln(t)
	for k, row := range m.Confusion {
		fmt.Fprint(t, className(m, k)+"\t")
		for _, n := range row {
			fmt.Fprint(t, strconv.FormatInt(n, 10)+"\t")
		}
		fmt.Fprintln(t)
	}
}

// className returns the name of a class, or its number.
func className(m report.Metrics, class int) string {
	if m.Classes == nil {
		return strconv.Itoa(class)
	}
	return phrase.Name(m.Classes[class])
}

// writeCalibration writes predicted and observed rates of a binary model.
func writeCalibration(t table, buckets []report.CalibrationBucket) {
	if len(buckets) == 0 {
		return
	}
	fmt.Fprint(t, "score\texamples\tpredicted\tobserved\t\n")
	for _, b := range buckets {
		fmt.Fprintf(t, "%.1f to %.1f\t%d\t%.4f\t%.4f\t\n", b.From, b.To, b.Examples, b.Predicted, b.Observed)
	}
	t.Flush()
}

// writeThresholds writes what thresholds make of the records of two classes, and that of the best F1 last.
func writeThresholds(t table, m report.Metrics) {
	if len(m.Thresholds) == 0 {
		return
	}
	line := func(name string, of report.Threshold) {
		fmt.Fprintf(t, "%s%.4g\t%.4f\t%.4f\t%.4f\t%.4f\t\n", name, of.Threshold, of.Precision, of.Recall, of.F1, of.Predicted)
	}
	fmt.Fprint(t, "threshold\tprecision\trecall\tf1\tpredicted\t\n")
	for _, of := range m.Thresholds {
		line("", of)
	}
	if m.BestF1 != nil {
		line("best f1 at ", *m.BestF1)
	}
	t.Flush()
}

// ImportanceTable writes what loss and AUC lose where the cells of a column are permuted.
func ImportanceTable(w io.Writer, columns []trained.Importance) {
	t := newTable(0, "column\tloss")
	if len(columns) > 0 && columns[0].AUC != nil {
		fmt.Fprint(t, "\tAUC")
	}
	fmt.Fprintln(t)
	for _, c := range columns {
		fmt.Fprintf(t, "%s\t%+.4g ± %.2g", escaped.Replace(c.Column), cleared(c.Loss), c.LossDeviation)
		if c.AUC != nil {
			fmt.Fprintf(t, "\t%+.4g ± %.2g", cleared(-*c.AUC), *c.AUCDeviation)
		}
		fmt.Fprintln(t)
	}
	t.writeTo(w)
}

// cleared is 0 in the place of a difference that comes of rounding alone.
func cleared(x report.Number) report.Number {
	if x > -1e-12 && x < 1e-12 {
		return 0
	}
	return x
}
