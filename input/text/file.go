package text

import (
	"context"
	"errors"
	"io"
	"os"

	"ringtrain/input"
)

// mostOpen is how many files stay open. Others are opened for each block.
const mostOpen = 64

// file is one file of a Set.
type file struct {
	*input.StableFile // of the file on disk
	textSize          int64
	held              *input.Memory // the text of a compressed file; nil: it is plain, or a stream
	stream            *stream       // the text of a large compressed file
	first             int           // number of its first block in the Set
	header            int           // block of the file whose first line is the header; −1: none
	places            []place       // of the beginning of each block; nil without quotes
}

// openFile opens a file. Its text lies in path, which is name unless somebody has inflated it.
func openFile(ctx context.Context, name, path string, limits input.Limits, keep bool) (*file, error) {
	disk, r, err := input.OpenStable(name, path)
	if err != nil {
		return nil, err
	}
	f := &file{StableFile: disk, textSize: disk.Size}
	packed := ""
	head, err := input.Head(r)
	if err != nil {
		err = input.ReadError(name, err)
	} else {
		packed, err = input.Compression(name, head, true)
	}
	switch {
	case err == nil && packed != "":
		err = f.unpack(ctx, limits)
	case err == nil && keep:
		f.Keep(r)
		return f, nil
	}
	return f, errors.Join(err, r.Close())
}

// blocks returns the number of blocks of the file.
func (f *file) blocks() int {
	return int((f.textSize + input.BlockBytes - 1) / input.BlockBytes)
}

// open returns the file to read, unless it has changed since it was opened first.
func (f *file) open() (io.ReaderAt, error) {
	if f.held != nil {
		return f.held, nil
	}
	if f.stream != nil {
		return f.stream, f.Unchanged()
	}
	return f.Open()
}

// release closes r, which open returned, unless it stays open.
func (f *file) release(r io.ReaderAt) {
	if r, ok := r.(*os.File); ok {
		f.Release(r)
	}
}

func (f *file) close() error {
	if f.stream != nil {
		return f.stream.close()
	}
	return f.Close()
}

// readError is the error of a read of the text.
func (f *file) readError(err error) error { return f.ReadError(err, f.textSize) }
