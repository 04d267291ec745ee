package show

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"ringtrain/input/column"
	"ringtrain/model/train/records"
)

// Columns writes a line for each column.
func Columns(to io.Writer, all []records.ColumnStats) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "column\trecords\tmissing\tunknown\tmean\tdeviation\tmin\tmax\tdistinct\tmost frequent")
	for _, s := range all {
		unknown := ""
		if s.Unknown != nil {
			unknown = fmt.Sprint(*s.Unknown)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\n", escaped.Replace(s.Column), s.Records, s.Missing, unknown, numbersOf(s.Numbers), textsOf(s.Texts))
	}
	return w.Flush()
}

// numbersOf returns the four cells of numbers.
func numbersOf(n *column.NumberStats) string {
	if n == nil {
		return "\t\t\t"
	}
	return fmt.Sprintf("%.12g\t%.12g\t%.12g\t%.12g", n.Mean, n.Deviation, n.Min, n.Max)
}

// textsOf returns the two cells of texts.
func textsOf(t *column.TextStats) string {
	switch {
	case t == nil:
		return "\t"
	case t.More:
		return fmt.Sprintf("> %d\t", t.Distinct)
	}
	var frequent []string
	for _, f := range t.Frequent {
		frequent = append(frequent, fmt.Sprintf("%q %d", f.Text, f.Records))
	}
	return fmt.Sprintf("%d\t%s", t.Distinct, strings.Join(frequent, ", "))
}
