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

// Cat prints n records of separated text, from index from on, as convert.Cat does: each cell as a text without the blanks
// around it, by the name of its column. A column without a name of its own is c1, c2, …, by its place.
//
//	{"record":0,"cells":{"age":"39","city":"Bern"}}
func Cat(ctx context.Context, w io.Writer, s convert.Spec, from, n int) error {
	first, whole, err := head(ctx, s.Files[0], s.Limits)
	if err != nil {
		return err
	}
	t := Table{Origin: s.Origin}
	d, err := t.dialect(first, whole)
	if err != nil {
		return err
	}
	c := text.Config{Format: string(s.Format), Limits: s.Limits, Header: d.header, Separator: d.separator, Trim: d.trim}
	if !d.noQuotes {
		c.Quote = '"'
	}
	folders, err := input.FoldersOf(s.Files, input.FolderNames(s.Files))
	if err != nil {
		return err
	}
	p := printer{fields: csvfile.NewFields(d.separator, d.noQuotes, d.trim, len(d.names)), folders: folders, width: len(d.names)}
	d.names = append(d.names, folders.Names...)
	for i, name := range d.names {
		if name == "" || slices.Contains(d.names[:i], name) {
			name = columnName(i)
		}
		p.names = append(p.names, inJSON(nil, name))
	}
	c.Parse = p.parse
	records, err := text.Open(ctx, s.Files, c)
	if err != nil {
		return err
	}
	defer records.Close()
	return convert.EachRecord(w, records, from, n, func(dst []byte, record int, _ *input.Batch) []byte {
		dst = strconv.AppendInt(append(dst, `{"record":`...), int64(record), 10)
		return append(append(append(dst, `,"cells":{`...), p.line...), "}}\n"...)
	})
}

// A printer makes JSON of the cells of a line.
type printer struct {
	fields  *csvfile.Fields
	width   int // of a line
	folders input.Folders
	names   [][]byte // in JSON, also of the columns of folders
	line    []byte
}

func (p *printer) parse(_ *input.Batch, line []byte, file int) error {
	cells, err := p.fields.Split(line)
	if err == nil && len(cells) != p.width {
		err = fmt.Errorf("has %s, want %d", phrase.Count(len(cells), "field"), p.width)
	}
	if err != nil {
		return text.WithLines(line, err)
	}
	for i := range p.folders.Names {
		cells = append(cells, p.folders.Cell(i, file))
	}
	p.line = p.line[:0]
	for i, cell := range cells {
		if i > 0 {
			p.line = append(p.line, ',')
		}
		p.line = inJSON(append(append(p.line, p.names[i]...), ':'), string(column.Trimmed(cell)))
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
