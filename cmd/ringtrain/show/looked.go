package show

import (
	"fmt"
	"strings"

	"ringtrain/input/look"
	"ringtrain/ring/phrase"
)

// Looked writes what init made of the columns of a table for a job file, and the next command.
func (r *Reporter) Looked(t *look.Table, file string) error {
	for i := range t.Columns {
		r.Emit(named{"column", &t.Columns[i]})
	}
	r.Emit(named{"init", fields{"job": file, "format": t.Origin.Format, "records": t.Records, "bad_records": t.BadRecords(), "label": t.Label}})
	if len(t.Columns) == 0 {
		fmt.Fprintf(r.People, "label: %s\n", t.Label)
	} else if err := r.lookedColumns(t); err != nil {
		return err
	}
	for _, line := range t.Notices() {
		fmt.Fprintln(r.People, "notice: "+phrase.Foreign(line, phrase.MaxText))
	}
	name := shellWord(file)
	_, err := fmt.Fprintf(r.People, "%s: %d records of %s\nlook at %s, then: ringtrain data check %s && ringtrain run %s\n", file, t.Records, t.Origin.Format, file, name, name)
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
	table := newTable(0, "column\tmissing\tdistinct\tbecomes\twhy\n")
	for i := range t.Columns {
		c := &t.Columns[i]
		about := ""
		if c.Estimate {
			about = "~"
		}
		fmt.Fprintf(table, "%s\t%d\t%s%d\t%s\t%s\n", phrase.Name(c.Name), c.MissingCells(), about, c.Distinct, c.Becomes, phrase.Foreign(c.Why, phrase.MaxText))
	}
	return table.writeTo(r.People)
}
