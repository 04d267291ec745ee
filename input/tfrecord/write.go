package tfrecord

import (
	"encoding/binary"
	"fmt"
	"io"

	"ringtrain/input/maskedcrc"
)

// Writer writes records without a buffer: when Write returns nil, the io.Writer has the
// record.
type Writer struct {
	w    io.Writer
	head [headBytes]byte
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write adds a record. It allocates nothing.
func (w *Writer) Write(data []byte) error {
	binary.LittleEndian.PutUint64(w.head[:], uint64(len(data)))
	binary.LittleEndian.PutUint32(w.head[8:], maskedcrc.Of(w.head[:8]))
	if _, err := w.w.Write(w.head[:]); err != nil {
		return fmt.Errorf("tfrecord: %w", err)
	}
	if _, err := w.w.Write(data); err != nil {
		return fmt.Errorf("tfrecord: %w", err)
	}
	binary.LittleEndian.PutUint32(w.head[:], maskedcrc.Of(data))
	if _, err := w.w.Write(w.head[:tailBytes]); err != nil {
		return fmt.Errorf("tfrecord: %w", err)
	}
	return nil
}
