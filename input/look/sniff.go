package look

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/csvfile"
	"ringtrain/input/text"
	"ringtrain/ring/exitcode"
)

// headBytes is how much of a file tells its format, separator and header.
const headBytes = 256 << 10

// A beginning is that of the content of a file.
type beginning struct {
	name    string
	format  convert.Format
	content []byte
	whole   bool // it is all of it
}

// head returns the beginning of the first file that has one, or an empty one: lakes have empty files among others.
func head(ctx context.Context, files []string, limits input.Limits) (b beginning, err error) {
	for _, b.name = range files {
		if b.format, b.content, err = convert.SniffFile(b.name); err == nil && !b.format.IsTable() {
			err = b.read(ctx, limits)
		}
		if err != nil || len(b.content) > 0 {
			return b, err
		}
	}
	return b, nil
}

// read reads the beginning.
func (b *beginning) read(ctx context.Context, limits input.Limits) error {
	f, err := input.OpenFile(ctx, b.name, limits)
	if err != nil {
		return err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, headBytes+1))
	if err != nil {
		return input.ReadError(b.name, err)
	}
	b.content, b.whole = content[:min(len(content), headBytes)], len(content) <= headBytes
	b.format = convert.Sniff(b.content)
	return nil
}

// inFile is err with the name of a file.
func inFile(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }

// notText returns an error of a file whose beginning is text that no job reads.
func notText(name string, head []byte) error {
	start := bytes.TrimLeft(head, " \t\r\n\ufeff")
	wrong := ""
	switch {
	case bytes.HasPrefix(start, []byte("{\"")), bytes.HasPrefix(start, []byte("[{")):
		wrong = "is JSON, want one of " + convert.FormatName("").Takes() + "; jq -r '[.a, .b] | @csv' FILE makes CSV of JSON lines"
	case bytes.IndexByte(head, '\n') < 0 && bytes.Count(head, []byte{'\r'}) > 1 && utf8.Valid(head):
		wrong = "ends its lines with CR alone, want LF or CR LF: tr '\\r' '\\n' <FILE makes it so"
	default:
		return nil
	}
	return exitcode.With(exitcode.BadData, fmt.Errorf("%s %s", name, wrong))
}

// isAligned reports whether blanks stand between the columns of a text, several of them in its first line.
func isAligned(head []byte, d dialect) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, " \r\n"), []byte{'\n'})
	return (d.separator == ' ' || len(d.names) < 2) && bytes.Contains(bytes.TrimSpace(line), []byte("  "))
}

// mostLines bounds the lines of a head that are looked at.
const mostLines = 200

// A dialect is how the fields of lines are written.
type dialect struct {
	separator byte
	noQuotes  bool
	trim      bool // fields have blanks around
	header    bool
	names     []string // of the header, else c1, c2, …
}

// separators that are looked for. The first by which nearly all lines have as many fields as the first is
// taken: what separates fields is rarely in as many of them.
var separators = [...]byte{'\t', ';', ',', '|', ' '}

// sniffDialect finds separator and header in the first lines of a file.
func sniffDialect(head []byte, whole bool) dialect {
	d := dialect{separator: ','}
	var rows [][]string
	for _, s := range separators {
		found := cut(head, whole, s, true)
		same := 0
		for _, row := range found {
			if len(row) == len(found[0]) {
				same++
			}
		}
		if len(found) > 0 && len(found[0]) > 1 && 20*same >= 19*len(found) {
			d.separator, rows = s, found
			break
		}
	}
	if rows == nil {
		rows = cut(head, whole, d.separator, true)
	}
	for _, row := range cut(head, whole, d.separator, false) {
		d.trim = d.trim || slices.ContainsFunc(row, func(cell string) bool { return len(column.Trimmed([]byte(cell))) < len(cell) })
	}
	if len(rows) == 0 {
		return d
	}
	d.header = isHeader(rows)
	for i, name := range rows[0] {
		if !d.header {
			name = columnName(i)
		} else if d.trim {
			name = strings.TrimSpace(name)
		}
		d.names = append(d.names, name)
	}
	return d
}

// cut returns the fields of the first lines.
func cut(head []byte, whole bool, separator byte, trim bool) (rows [][]string) {
	fields := csvfile.NewFields(separator, false, trim, 0)
	for _, line := range text.Lines(head, text.Config{Quote: '"', Separator: separator, Trim: trim}, whole) {
		if len(rows) == mostLines {
			break
		}
		row, err := fields.Split(line)
		if err != nil {
			row = nil
		}
		cells := make([]string, len(row))
		for i, f := range row {
			cells[i] = string(f)
		}
		rows = append(rows, cells)
	}
	return rows
}

// isHeader reports whether the first row names columns: no cell of it is a number, a date or a word for
// missing, and either a column below has such cells, or its cells do not occur below.
func isHeader(rows [][]string) bool {
	named := 0
	for _, cell := range rows[0] {
		cell = strings.TrimSpace(cell)
		if cell == "" {
			continue
		}
		if isValue(cell) {
			return false
		}
		named++
	}
	if named == 0 || 2*named < len(rows[0]) {
		return false
	}
	again := 0
	for i, name := range rows[0] {
		for _, row := range rows[1:] {
			if i >= len(row) {
				continue
			}
			cell := strings.TrimSpace(row[i])
			if cell != "" && isValue(cell) {
				return true
			}
			if cell == strings.TrimSpace(name) {
				again++
				break
			}
		}
	}
	return 2*again < named
}

// isValue reports whether a cell is a number, a date or a word for missing.
func isValue(cell string) bool {
	_, kind := numberOf([]byte(cell))
	var t tally
	isLoose := kind == anyNumber && t.looseNumbers().take([]byte(cell), false)
	return kind == plainNumber || kind == hugeNumber || isLoose || dateShaped([]byte(cell)) || column.MissingWord([]byte(cell)) >= 0
}
