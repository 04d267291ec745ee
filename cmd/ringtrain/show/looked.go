package show

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"ringtrain/input/look"
	"ringtrain/ring/phrase"
)

// lookedColumn is the event of a column of init.
type lookedColumn struct{ *look.Column }

// Kind names the event.
func (lookedColumn) Kind() string { return "column" }

// Written is the event of a job file that init has written.
type Written struct {
	Job     string      `json:"job"`
	Format  string      `json:"format"`
	Records int64       `json:"records"`
	Bad     int64       `json:"bad_records"`
	Label   *look.Label `json:"label"`
}

// Kind names the event.
func (Written) Kind() string { return "init" }

// Looked writes what init made of the columns of a table, and the next command.
func (r *Reporter) Looked(t *look.Table, w Written) error {
	for i := range t.Columns {
		r.Emit(lookedColumn{&t.Columns[i]})
	}
	r.Emit(w)
	if len(t.Columns) == 0 {
		fmt.Fprintf(r.People, "label: %s\n", t.Label)
	} else if err := r.lookedColumns(t); err != nil {
		return err
	}
	for _, line := range t.Notices() {
		fmt.Fprintln(r.People, "notice: "+phrase.Foreign(line, phrase.MaxText))
	}
	name := shellWord(w.Job)
	_, err := fmt.Fprintf(r.People, "%s: %d records of %s\nlook at %s, then: ringtrain data check %s && ringtrain run %s\n", w.Job, t.Records, t.Origin.Format, w.Job, name, name)
	return err
}

// CommandLine returns words as a shell's command.
func CommandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellWord(word)
	}
	return strings.Join(quoted, " ")
}

// shellWord returns a name as it stands in a shell's command.
func shellWord(name string) string {
	if name == "" || strings.ContainsAny(name, " \t\n'\"\\$`&|;<>()*?[]{}#~!") {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}

// lookedColumns writes a line for each column.
func (r *Reporter) lookedColumns(t *look.Table) error {
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "column\tmissing\tdistinct\tbecomes\twhy")
	for i := range t.Columns {
		c := &t.Columns[i]
		about := ""
		if c.Estimate {
			about = "~"
		}
		fmt.Fprintf(table, "%s\t%d\t%s%d\t%s\t%s\n", phrase.Name(c.Name), c.MissingCells(), about, c.Distinct, c.Becomes, phrase.Foreign(c.Why, phrase.MaxText))
	}
	return written(r.People, &text, table)
}

// written writes a table at once: a tabwriter writes cell by cell, and a terminal takes whole lines.
func written(w io.Writer, text *bytes.Buffer, table *tabwriter.Writer) error {
	table.Flush() // to memory
	_, err := w.Write(text.Bytes())
	return err
}
