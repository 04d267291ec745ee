package tfrecord

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"ringtrain/ring/exitcode"
)

// Reader reads the records of a plain file from its beginning, also of one that is
// still being written.
type Reader struct {
	r      *bufio.Reader
	name   string
	frame  []byte
	record int
	offset int64 // of the next record
}

// NewReader returns a Reader of r, which errors call name.
func NewReader(r io.Reader, name string) *Reader {
	return &Reader{r: bufio.NewReader(r), name: name}
}

// Next returns the data of the next record, which is valid until the next call. The end
// is io.EOF. A file that ends within a record gives an error that wraps
// io.ErrUnexpectedEOF: its writer has died, or is about to write the rest.
func (r *Reader) Next() ([]byte, error) {
	r.frame = r.frame[:0]
	if err := r.read(headBytes); err != nil {
		return nil, err
	}
	length, have, want := lengthOf(r.frame)
	if have != want {
		return nil, r.bad(fmt.Errorf("length crc32c is 0x%08x, want 0x%08x", have, want))
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

// grain bounds what a length that may be wrong can have allocated at once.
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
