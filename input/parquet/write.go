package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// codecZstd is the place of zstd among codecs.
const codecZstd = 6

// A Field is a column that a Writer writes: an Integer, a Float or a Text.
type Field struct {
	Name string
	Kind Kind
}

// Writer writes records of cells without lists or missing ones, as row groups of plain pages that zstd compresses.
type Writer struct {
	to     io.Writer
	fields []Field
	packer *zstd.Encoder
	at     int64
	cells  [][]byte // of each column, in the row group
	bytes  int      // of all
	rows   int64    // of the row group
	all    int64
	groups []any
}

// groupBytes and groupRows are how much a row group has.
const (
	groupBytes = 16 << 20
	groupRows  = 1 << 20
)

// NewWriter returns a writer of a file.
func NewWriter(to io.Writer, fields []Field) (*Writer, error) {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	w := &Writer{to: to, fields: fields, packer: packer, cells: make([][]byte, len(fields))}
	if err == nil {
		err = w.write([]byte(magic))
	}
	return w, err
}

func (w *Writer) write(p []byte) error {
	n, err := w.to.Write(p)
	w.at += int64(n)
	return err
}

// Write adds a record of cells as CSV has them.
func (w *Writer) Write(cells []string) error {
	for i, cell := range cells {
		before := len(w.cells[i])
		if err := w.cell(i, cell); err != nil {
			return exitcode.With(exitcode.BadData, fmt.Errorf("parquet: column %s is %s, want a number", w.fields[i].Name, phrase.Quote(cell)))
		}
		w.bytes += len(w.cells[i]) - before
	}
	w.rows++
	if w.rows == groupRows || w.bytes >= groupBytes {
		return w.flush()
	}
	return nil
}

// cell adds a cell of a column.
func (w *Writer) cell(i int, cell string) error {
	to := &w.cells[i]
	switch w.fields[i].Kind {
	case Integer:
		v, err := strconv.ParseInt(cell, 10, 64)
		*to = binary.LittleEndian.AppendUint64(*to, uint64(v))
		return err
	case Float:
		v, err := strconv.ParseFloat(cell, 64)
		*to = binary.LittleEndian.AppendUint64(*to, math.Float64bits(v))
		return err
	}
	*to = append(binary.LittleEndian.AppendUint32(*to, uint32(len(cell))), cell...)
	return nil
}

// flush writes the row group.
func (w *Writer) flush() error {
	if w.rows == 0 {
		return nil
	}
	var chunks []any
	for i, f := range w.fields {
		plain := w.cells[i]
		packed := w.packer.EncodeAll(plain, nil)
		first := w.at
		head := appendThrift(nil, fields{int32(0), int32(len(plain)), int32(len(packed)), nil, fields{int32(w.rows), int32(encodingPlain), int32(encodingRuns), int32(encodingRuns)}})
		if err := w.write(append(head, packed...)); err != nil {
			return err
		}
		physical, size := f.physical(), int64(len(head)+len(plain))
		chunks = append(chunks, fields{nil, first, fields{physical, []any{int32(encodingPlain), int32(encodingRuns)}, []any{f.Name}, int32(codecZstd), w.rows, size, w.at - first, nil, first}})
		w.cells[i] = plain[:0]
	}
	w.groups = append(w.groups, fields{chunks, int64(w.bytes), w.rows})
	w.all += w.rows
	w.bytes, w.rows = 0, 0
	return nil
}

// physical is the type of the values.
func (f *Field) physical() int32 {
	return map[Kind]int32{Integer: typeInt64, Float: typeDouble, Text: typeBytes}[f.Kind]
}

// Close writes what is left, and the footer.
func (w *Writer) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	schema := []any{fields{nil, nil, nil, "schema", int32(len(w.fields))}}
	for _, f := range w.fields {
		e := fields{f.physical(), nil, int32(0), f.Name, nil, nil, nil, nil, nil, nil}
		if f.Kind == Text {
			e[5], e[9] = int32(0), fields{fields{}} // UTF8, and STRING
		}
		schema = append(schema, e)
	}
	footer := appendThrift(nil, fields{int32(1), schema, w.all, w.groups, nil, "ringtrain"})
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return w.write(append(footer, magic...))
}

// fields are the fields of a struct of Thrift, the first of which has the number 1; nil is not there.
type fields []any

// appendThrift appends a value in Thrift's compact protocol.
func appendThrift(dst []byte, value any) []byte {
	switch v := value.(type) {
	case int32:
		return binary.AppendVarint(dst, int64(v))
	case int64:
		return binary.AppendVarint(dst, v)
	case string:
		return append(binary.AppendUvarint(dst, uint64(len(v))), v...)
	case []any:
		kind := byte(thriftStruct)
		if len(v) > 0 {
			kind = thriftKind(v[0])
		}
		dst = binary.AppendUvarint(append(dst, 0xf0|kind), uint64(len(v)))
		for _, one := range v {
			dst = appendThrift(dst, one)
		}
		return dst
	case fields:
		skipped := byte(0)
		for _, one := range v {
			skipped++
			if one != nil {
				dst = appendThrift(append(dst, skipped<<4|thriftKind(one)), one)
				skipped = 0
			}
		}
		return append(dst, 0)
	}
	panic("parquet: no value of Thrift")
}

// thriftKind is the kind of a value that is written.
func thriftKind(value any) byte {
	switch value.(type) {
	case int32:
		return 5
	case int64:
		return 6
	case string:
		return thriftBinary
	case []any:
		return thriftList
	}
	return thriftStruct
}
