package look

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/csvfile"
	"ringtrain/input/text"
	"ringtrain/ring/phrase"
)

// Cat prints n raw records, from index from on, as convert.Cat does: each cell as a text without the blanks around it, by
// the name of its column, and a list of several as their list. A column without a name of its own is c1, c2, …, by its place.
//
//	{"record":0,"cells":{"age":"39","city":"Bern"}}
func Cat(ctx context.Context, w io.Writer, s convert.Spec, from, n int) error {
	folders, err := input.FoldersOf(s.Files, input.FolderNames(s.Files))
	if err != nil {
		return err
	}
	var p printer
	open := catText
	if f, _ := convert.FormatOf(s.Format); f.IsTable() {
		open = catTable
	}
	records, err := open(ctx, s, folders, &p)
	if err != nil {
		return err
	}
	defer records.Close()
	return convert.EachRecord(w, records, from, n, func(dst []byte, record int, _ *input.Batch) []byte {
		dst = strconv.AppendInt(append(dst, `{"record":`...), int64(record), 10)
		return append(append(append(dst, `,"cells":{`...), p.line...), "}}\n"...)
	})
}

// A printer makes JSON of the cells of a record.
type printer struct {
	names [][]byte // in JSON
	line  []byte
}

// name tells the names of the columns.
func (p *printer) name(names []string) {
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			name = columnName(i)
		}
		p.names = append(p.names, inJSON(nil, name))
	}
}

// cell prints a cell, which begins the record if it is the first, or the texts of a list.
func (p *printer) cell(i int, texts ...[]byte) {
	p.line = append(p.line, ',')
	if i == 0 {
		p.line = p.line[:0]
	}
	p.line = append(append(p.line, p.names[i]...), ':')
	if len(texts) == 1 {
		p.line = inJSON(p.line, string(column.Trimmed(texts[0])))
		return
	}
	for k, text := range texts {
		p.line = inJSON(append(p.line, "[,"[min(k, 1)]), string(column.Trimmed(text)))
	}
	p.line = append(p.line, ']')
}

// textCat prints the lines of separated text.
type textCat struct {
	*printer
	fields  *csvfile.Fields
	width   int // of a line
	folders input.Folders
}

// catText returns the records of separated text, which print themselves.
func catText(ctx context.Context, s convert.Spec, folders input.Folders, to *printer) (input.Dataset, error) {
	b, err := head(ctx, s.Files, s.Limits)
	if err != nil {
		return nil, err
	}
	t := Table{Origin: s.Origin}
	d, err := t.dialect(b.content, b.whole)
	if err != nil {
		return nil, err
	}
	to.name(slices.Concat(d.names, folders.Names))
	p := textCat{to, csvfile.NewFields(d.separator, d.noQuotes, d.trim, len(d.names)), len(d.names), folders}
	c := text.Config{Format: string(s.Format), Limits: s.Limits, Header: d.header, Separator: d.separator, Trim: d.trim, Parse: p.parse}
	if !d.noQuotes {
		c.Quote = '"'
	}
	return text.Open(ctx, s.Files, c)
}

func (t *textCat) parse(_ *input.Batch, line []byte, file int) error {
	cells, err := t.fields.Split(line)
	if err == nil && len(cells) != t.width {
		err = fmt.Errorf("has %s, want %d", phrase.Count(len(cells), "field"), t.width)
	}
	if err != nil {
		return text.WithLines(line, err)
	}
	for i := range t.folders.Names {
		cells = append(cells, t.folders.Cell(i, file))
	}
	for i, cell := range cells {
		t.cell(i, cell)
	}
	return nil
}

// inJSON appends a text in JSON.
func inJSON(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("look: a text cannot be encoded")
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte{'\n'})...)
}
