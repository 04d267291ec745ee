package libsvm

import (
	"fmt"
	"io"
	"strconv"
)

// Writer writes records as lines, numbers in their shortest exact form.
type Writer struct {
	w    io.Writer
	base int
	line []byte
}

// NewWriter returns a Writer to w that adds base to every id.
func NewWriter(w io.Writer, base int) *Writer { return &Writer{w: w, base: base} }

// Write adds a record. It panics if ids and values differ in length.
func (w *Writer) Write(label float32, ids []uint32, values []float32) error {
	if len(ids) != len(values) {
		panic("libsvm: ids and values differ in length")
	}
	w.line = appendFloat(w.line[:0], label)
	for i, id := range ids {
		w.line = append(w.line, ' ')
		w.line = strconv.AppendInt(w.line, int64(id)+int64(w.base), 10)
		w.line = append(w.line, ':')
		w.line = appendFloat(w.line, values[i])
	}
	w.line = append(w.line, '\n')
	if _, err := w.w.Write(w.line); err != nil {
		return fmt.Errorf("libsvm: %w", err)
	}
	return nil
}

func appendFloat(dst []byte, x float32) []byte {
	return strconv.AppendFloat(dst, float64(x), 'g', -1, 32)
}
