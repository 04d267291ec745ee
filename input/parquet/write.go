package parquet

import (
	"fmt"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// A Field is a column that a Writer writes: an Integer, a Float or a Text.
type Field struct {
	Name string
	Kind Kind
}

// Writer writes records of cells without lists or missing ones, as row groups that zstd compresses.
type Writer struct {
	fields []Field
	to     *parquet.GenericWriter[any]
	row    parquet.Row
	bytes  int // of the texts of the row group
}

// groupBytes and groupRows are how much a row group has.
const (
	groupBytes = 16 << 20
	groupRows  = 1 << 20
)

// NewWriter returns a writer of a file.
func NewWriter(to io.Writer, fields []Field) *Writer {
	columns := parquet.Group{}
	for _, f := range fields {
		columns[f.Name] = f.node()
	}
	schema := parquet.NewSchema("schema", &ordered{columns, fields})
	return &Writer{fields: fields, row: make(parquet.Row, len(fields)),
		to: parquet.NewGenericWriter[any](to, schema, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(groupRows))}
}

// node is the type of a column.
func (f *Field) node() parquet.Node {
	switch f.Kind {
	case Integer:
		return parquet.Int(64)
	case Float:
		return parquet.Leaf(parquet.DoubleType)
	}
	return parquet.String()
}

// ordered is a group whose columns have an order of their own. A Group has that of their names.
type ordered struct {
	parquet.Group
	fields []Field
}

// Fields returns the columns.
func (o *ordered) Fields() []parquet.Field {
	byName := map[string]parquet.Field{}
	for _, f := range o.Group.Fields() {
		byName[f.Name()] = f
	}
	all := make([]parquet.Field, len(o.fields))
	for i, f := range o.fields {
		all[i] = byName[f.Name]
	}
	return all
}

// Write adds a record of cells as CSV has them.
func (w *Writer) Write(cells []string) error {
	for i, cell := range cells {
		v, err := w.fields[i].value(cell)
		if err != nil {
			return exitcode.With(exitcode.BadData, fmt.Errorf("parquet: column %s is %s, want a number", w.fields[i].Name, phrase.Quote(cell)))
		}
		w.row[i] = v.Level(0, 0, i)
		w.bytes += len(cell)
	}
	if _, err := w.to.WriteRows([]parquet.Row{w.row}); err != nil || w.bytes < groupBytes {
		return err
	}
	w.bytes = 0
	return w.to.Flush()
}

// value is the value of a cell.
func (f *Field) value(cell string) (parquet.Value, error) {
	switch f.Kind {
	case Integer:
		v, err := strconv.ParseInt(cell, 10, 64)
		return parquet.Int64Value(v), err
	case Float:
		v, err := strconv.ParseFloat(cell, 64)
		return parquet.DoubleValue(v), err
	}
	return parquet.ByteArrayValue([]byte(cell)), nil
}

// Close writes what is left, and the footer.
func (w *Writer) Close() error { return w.to.Close() }
