package tfrecord

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"ringtrain/ring/exitcode"
)

// Reader reads the records of a plain file sequentially. The file may still grow.
type Reader struct {
	r      *bufio.Reader
	name   string
	frame  []byte
	record int
	offset int64 // of the next record
}

// NewReader returns a Reader of r. Errors call the file name.
func NewReader(r io.Reader, name string) *Reader {
	return &Reader{r: bufio.NewReader(r), name: name}
}

// Next returns the data of the next record, which is valid until the next call, and
// io.EOF at the end. If the file ends within a record, the error wraps
// io.ErrUnexpectedEOF: the writer has died or is still writing.
func (r *Reader) Next() ([]byte, error) {
	r.frame = r.frame[:0]
	if err := r.read(headBytes); err != nil {
		return nil, err
	}
	length, have, want := lengthOf(r.frame)
	if have != want {
		return nil, r.bad(crcError("length", have, want))
	}
	if length > maxRecord {
		return nil, r.bad(fmt.Errorf("length is %d, want at most %d", length, maxRecord))
	}
	if err := r.read(int(length) + tailBytes); err != nil {
		return nil, err
	}
	data, err := dataOf(r.frame)
	if err != nil {
		return nil, r.bad(err)
	}
	r.record++
	r.offset += int64(len(r.frame))
	return data, nil
}

// grain bounds the allocation for a length that may be wrong.
const grain = 1 << 20

// read appends n bytes to the frame.
func (r *Reader) read(n int) error {
	for n > 0 {
		from, k := len(r.frame), min(n, grain)
		r.frame = slices.Grow(r.frame, k)[:from+k]
		got, err := io.ReadFull(r.r, r.frame[from:])
		switch {
		case err == nil:
			n -= k
		case err == io.EOF && from == 0:
			return io.EOF
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
			return r.bad(fmt.Errorf("file ends %d bytes into the record: %w", from+got, io.ErrUnexpectedEOF))
		default:
			return exitcode.With(exitcode.IO, &flaw{r.name, r.record, r.offset, err})
		}
	}
	return nil
}

func (r *Reader) bad(err error) error {
	return exitcode.With(exitcode.BadData, &flaw{r.name, r.record, r.offset, err})
}
