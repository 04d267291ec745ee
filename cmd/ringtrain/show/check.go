package show

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"ringtrain/input/look"
	"ringtrain/ring/phrase"
)

// finding is the event of a finding of data check.
type finding struct{ look.Finding }

// Kind names the event.
func (finding) Kind() string { return "finding" }

// mostFrequent bounds the values of a column that are shown.
const mostFrequent = 3

// Checked writes the columns of a job's records, and what a check has found.
func (r *Reporter) Checked(report *look.Report) error {
	for i := range report.Columns {
		r.Emit(lookedColumn{&report.Columns[i]})
	}
	for _, f := range report.Findings {
		r.Emit(finding{f})
	}
	w := tabwriter.NewWriter(r.People, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "column\trecords\tmissing\tmean\tdeviation\tmin\tmax\tdistinct\tmost frequent")
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
	if err := w.Flush(); err != nil {
		return err
	}
	for _, f := range report.Findings {
		fmt.Fprintln(r.People, phrase.Foreign(findingText(f), phrase.MaxText))
	}
	return nil
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
		at = append(at, fmt.Sprintf("%s:%d", e.File, e.Line))
	}
	where := ""
	if at != nil {
		where = " (" + strings.Join(at, ", ") + ")"
	}
	return fmt.Sprintf("%s%s, in %s%s; write %s", grave, f.What, phrase.Count(int(f.Records), "record"), where, f.Fix)
}
