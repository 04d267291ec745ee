package show

import (
	"fmt"
	"strings"

	"ringtrain/input/look"
	"ringtrain/ring/phrase"
)

// mostFrequent bounds the values of a column that are shown.
const mostFrequent = 3

// Checked writes the columns of a job's records, or their classes, and what a check has found.
func (r *Reporter) Checked(report *look.Report) error {
	for i := range report.Columns {
		r.Emit(named{"column", &report.Columns[i]})
	}
	for _, f := range report.Findings {
		r.Emit(named{"finding", f})
	}
	table := r.columnTable
	if report.Classes != nil {
		table = r.classTable
	}
	if err := table(report); err != nil {
		return err
	}
	for _, f := range report.Findings {
		fmt.Fprintln(r.People, phrase.Foreign(findingText(f), phrase.MaxText))
	}
	return nil
}

// mostClassRows bounds the classes that are shown.
const mostClassRows = 100

// classTable writes a line for each class of records without columns.
func (r *Reporter) classTable(report *look.Report) error {
	w := newTable(0, "class\trecords\tshare\n")
	for _, v := range report.Classes[:min(len(report.Classes), mostClassRows)] {
		fmt.Fprintf(w, "%s\t%d\t%.2f %%\n", phrase.Name(v.Text), v.Records, 100*float64(v.Records)/float64(report.Records))
	}
	if n := len(report.Classes) - mostClassRows; n > 0 {
		fmt.Fprintf(w, "%d more\n", n)
	}
	fmt.Fprintf(w, "all\t%d\n", report.Records)
	return w.writeTo(r.People)
}

// columnTable writes a line for each column.
func (r *Reporter) columnTable(report *look.Report) error {
	w := newTable(0, "column\trecords\tmissing\tmean\tdeviation\tmin\tmax\tdistinct\tmost frequent\n")
	for i := range report.Columns {
		c := &report.Columns[i]
		numbers, about := "\t\t\t", ""
		if n := c.Numbers; n != nil {
			numbers = fmt.Sprintf("%.6g\t%.6g\t%.12g\t%.12g", n.Mean, n.Deviation, n.Min, n.Max)
		}
		if c.Estimate {
			about = "~"
		}
		var frequent []string
		for _, v := range c.Values[:min(len(c.Values), mostFrequent)] {
			frequent = append(frequent, fmt.Sprintf("%q %d", v.Text, v.Records))
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s%d\t%s\n", phrase.Name(c.Name), c.Records, c.MissingCells(), numbers, about, c.Distinct, strings.Join(frequent, ", "))
	}
	return w.writeTo(r.People)
}

// findingText returns a finding as a line: how grave, which column, what, how often, where, and what to write.
func findingText(f look.Finding) string {
	grave := "likely wrong: "
	if f.Ends {
		grave = "ends the job: "
	}
	if f.Column != "" {
		grave += "column " + f.Column + ": "
	}
	var at []string
	for _, e := range f.Examples {
		place := fmt.Sprintf("%s:%d", e.File, e.Line)
		if e.File == "" {
			place = e.Text // which has the place
		}
		at = append(at, place)
	}
	where := ""
	if at != nil {
		where = " (" + strings.Join(at, ", ") + ")"
	}
	return fmt.Sprintf("%s%s, in %s%s; write %s", grave, f.What, phrase.Count(int(f.Records), "record"), where, f.Fix)
}
