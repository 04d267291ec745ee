package idx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"ringtrain/input"
)

// content is an IDX file after its header was read.
type content struct {
	header
	file *input.File
	want int64 // bytes of the payload
}

// open opens an IDX file and reads its header. check may refuse the header.
func open(ctx context.Context, name string, limits input.Limits, check func(header) error) (*content, error) {
	f, err := input.OpenFile(ctx, name, limits)
	if err != nil {
		return nil, err
	}
	c := &content{file: f}
	if err := c.readHeader(check); err != nil {
		f.Close()
		return nil, err
	}
	return c, nil
}

func (c *content) readHeader(check func(header) error) (err error) {
	if c.header, err = readHeader(c.file); err != nil {
		return err
	}
	if err := check(c.header); err != nil {
		return err
	}
	var ok bool
	if c.want, ok = c.header.payload(c.dims); !ok {
		return flaw(c.file.Name, "shape %s is too large", c.shape())
	}
	if f := c.file; f.Compressed && c.want > f.Most {
		return flaw(f.Name, "header wants %d bytes (%s of %v), want at most %d of %d compressed ones; if the file is right, raise input.max_inflate",
			c.want, c.shape(), c.kind, f.Most, f.Bytes)
	}
	return nil
}

// line returns the file's line of the manifest.
func (c *content) line() string {
	return fmt.Sprintf("%s %d %d", filepath.Base(c.file.Name), c.file.Bytes, c.dims[0])
}

// read reads the payload, which must have exactly the declared length, and closes the
// file. It is called once.
func (c *content) read() (*input.Memory, error) {
	f := c.file
	defer f.Close()
	held := new(input.Memory)
	_, err := held.ReadFrom(io.LimitReader(f, c.want))
	have := held.Size()
	if err == nil && have == c.want {
		var rest int64
		rest, err = io.Copy(io.Discard, f) // also verifies the checksum of gzip
		have += rest
	}
	f.Reader = nil // release its buffers
	if err != nil && (have >= c.want || !errors.Is(err, io.ErrUnexpectedEOF)) {
		return nil, input.ReadError(f.Name, err)
	}
	if have != c.want {
		return nil, flaw(f.Name, "%d payload bytes, want %d (%s of %v)", have, c.want, c.shape(), c.kind)
	}
	return held, nil
}
