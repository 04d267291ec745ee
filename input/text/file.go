package text

import (
	"errors"
	"io"
	"os"
	"path/filepath"

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
	quoted            []bool        // of each block: it begins within quotes; nil without quotes
}

// content is the source of a file's bytes.
type content interface {
	io.ReaderAt
	io.Closer
}

// memory is the content of a compressed file.
type memory struct{ *input.Memory }

func (memory) Close() error { return nil }

// openFile opens a file. Its text lies in path, which is name unless somebody has inflated it.
func openFile(name, path string, limits input.Limits, keep bool) (*file, error) {
	disk, err := input.OpenStable(name, path, keep)
	if err != nil {
		return nil, err
	}
	packed, err := isPacked(disk)
	if err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	f := &file{StableFile: disk, textSize: disk.Size}
	if packed {
		err = errors.Join(disk.Close(), f.unpack(limits))
	}
	return f, err
}

// blocks returns the number of blocks of the file.
func (f *file) blocks() int {
	return int((f.textSize + input.BlockBytes - 1) / input.BlockBytes)
}

// open returns the file to read, unless it has changed since it was opened first.
func (f *file) open() (content, error) {
	if f.held != nil {
		return memory{f.held}, nil
	}
	if f.stream != nil {
		return f.stream, f.Unchanged()
	}
	return f.Open()
}

// release closes r, which open returned, unless it stays open.
func (f *file) release(r content) {
	if r, ok := r.(*os.File); ok {
		f.Release(r)
	}
}

func (f *file) close() error {
	switch {
	case f.held != nil:
		return nil
	case f.stream != nil:
		return f.stream.close()
	}
	return f.Close()
}

// isPacked reports whether a file is compressed.
func isPacked(f *input.StableFile) (bool, error) {
	r, err := f.Open()
	if err != nil {
		return false, err
	}
	defer f.Release(r)
	head, err := input.Head(r)
	if err != nil {
		return false, input.ReadError(f.Name, err)
	}
	packed, err := input.Compression(f.Name, head, true)
	return packed != "", err
}

// readError is the error of a read of the text.
func (f *file) readError(err error) error { return f.ReadError(err, f.textSize) }

// base is the name of the file without its folders.
func (f *file) base() string { return filepath.Base(f.Name) }
