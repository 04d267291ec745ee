package text

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// mostOpen is how many files stay open. Others are opened for each block.
const mostOpen = 64

// file is one file of a Set.
type file struct {
	name   string    // in messages
	path   string    // where its text is
	size   int64     // of the text
	disk   int64     // of the file
	time   time.Time // of its last change
	info   os.FileInfo
	kept   *os.File      // nil: opened when it is read
	held   *input.Memory // the text of a compressed file; nil: it is plain, or a stream
	stream *stream       // the text of a large compressed file
	first  int           // number of its first block in the Set
	header int           // block of the file whose first line is the header; −1: none
	quoted []bool        // of each block: it begins within quotes; nil without quotes
}

// content is the source of a file's bytes.
type content interface {
	io.ReaderAt
	io.Closer
}

// memory is the content of a compressed file.
type memory struct{ *input.Memory }

func (memory) Close() error { return nil }

// openFile opens a file and notes its size and the time of its last change. Its text lies in
// path, which is name unless somebody has inflated it.
func openFile(name, path string, limits input.Limits, keep bool) (*file, error) {
	r, size, err := input.OpenRaw(path)
	if err != nil {
		return nil, err
	}
	packed, info, err := identify(name, r)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if packed != "" {
		r.Close()
		return openPacked(path, limits)
	}
	f := &file{name: name, path: path, size: size, disk: size, time: info.ModTime(), info: info}
	if keep {
		f.kept = r
		return f, nil
	}
	return f, r.Close()
}

// blocks returns the number of blocks of the file.
func (f *file) blocks() int {
	return int((f.size + input.BlockBytes - 1) / input.BlockBytes)
}

// open returns the file to read, unless it has changed since it was opened first.
func (f *file) open() (content, error) {
	if f.held != nil {
		return memory{f.held}, nil
	}
	if f.stream != nil {
		info, err := os.Stat(f.path)
		if err != nil {
			return nil, input.ReadError(f.name, err)
		}
		return f.stream, f.unchanged(info)
	}
	r := f.kept
	if r == nil {
		var err error
		if r, _, err = input.OpenRaw(f.path); err != nil {
			return nil, err
		}
	}
	info, err := r.Stat()
	if err != nil {
		err = input.ReadError(f.name, err)
	} else {
		err = f.unchanged(info)
	}
	if err != nil {
		f.release(r)
		return nil, err
	}
	return r, nil
}

// unchanged returns an error unless info is that of the file as it was opened first.
func (f *file) unchanged(info os.FileInfo) error {
	switch {
	case !os.SameFile(info, f.info):
		return f.change("it is another file than the one that was opened")
	case info.Size() != f.disk:
		return f.change(fmt.Sprintf("it has %d bytes, and had %d", info.Size(), f.disk))
	case !info.ModTime().Equal(f.time):
		return f.change(fmt.Sprintf("it was changed at %s, and last at %s", info.ModTime().UTC().Format(time.RFC3339Nano), f.time.UTC().Format(time.RFC3339Nano)))
	}
	return nil
}

// release closes r, which open returned, unless it stays open.
func (f *file) release(r content) {
	if r != f.kept {
		r.Close()
	}
}

func (f *file) close() error {
	if f.stream != nil {
		return f.stream.close()
	}
	if f.kept == nil {
		return nil
	}
	return f.kept.Close()
}

// identify returns how the file is compressed, "" if it is plain, and what the system knows of it.
func identify(name string, r *os.File) (packed string, info os.FileInfo, err error) {
	head, err := input.Head(r)
	if err == nil {
		info, err = r.Stat()
	}
	if err != nil {
		return "", nil, input.ReadError(name, err)
	}
	packed, err = input.Compression(name, head, true)
	return packed, info, err
}

// change is the error of a file that has changed since it was opened.
func (f *file) change(what string) error {
	return exitcode.With(exitcode.BadData, input.WholeFile(fmt.Errorf("input: %s changed while it was read: %s", f.name, what)))
}

// readError is that of input, but that the file ends early means that it has changed.
func (f *file) readError(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return f.change(fmt.Sprintf("it has fewer than %d bytes", f.size))
	}
	if _, ok := errors.AsType[*fs.PathError](err); !ok {
		err = &fs.PathError{Op: "read", Path: f.name, Err: err}
	}
	return input.ReadError(f.name, err)
}

// base is the name of the file without its folders.
func (f *file) base() string { return filepath.Base(f.name) }
