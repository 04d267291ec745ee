package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"ringtrain/ring/exitcode"
)

// StableFile is a file whose records are read in any order, and which must not change meanwhile. It
// stays open, or is opened for each read, so that a job of many files needs few open ones.
type StableFile struct {
	Name string // in messages
	Path string
	Size int64

	info os.FileInfo // as it was opened first
	kept *os.File    // nil: opened for each read
}

// OpenStable opens the file at path, which messages call name. The caller closes r, or has it kept.
func OpenStable(name, path string) (f *StableFile, r *os.File, err error) {
	r, size, err := OpenRaw(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := r.Stat()
	if err != nil {
		return nil, nil, errors.Join(ReadError(path, err), r.Close())
	}
	return &StableFile{Name: name, Path: path, Size: size, info: info}, r, nil
}

// Keep keeps r, which OpenStable has opened, until Close.
func (f *StableFile) Keep(r *os.File) { f.kept = r }

// Open returns the file to read, unless it has changed since it was opened first. Release closes it.
func (f *StableFile) Open() (*os.File, error) {
	r := f.kept
	if r == nil {
		var err error
		if r, _, err = OpenRaw(f.Path); err != nil {
			return nil, err
		}
	}
	info, err := r.Stat()
	if err != nil {
		err = ReadError(f.Name, err)
	} else {
		err = f.unchanged(info)
	}
	if err != nil {
		f.Release(r)
		return nil, err
	}
	return r, nil
}

// Unchanged returns an error if the file has changed since it was opened first.
func (f *StableFile) Unchanged() error {
	info, err := os.Stat(f.Path)
	if err != nil {
		return ReadError(f.Name, err)
	}
	return f.unchanged(info)
}

func (f *StableFile) unchanged(info os.FileInfo) error {
	was, now := f.info.ModTime(), info.ModTime()
	switch {
	case !os.SameFile(info, f.info):
		return f.Changed("it is another file than the one that was opened")
	case info.Size() != f.Size:
		return f.Changed(fmt.Sprintf("it has %d bytes, and had %d", info.Size(), f.Size))
	case !now.Equal(was):
		return f.Changed(fmt.Sprintf("it was changed at %s, and last at %s", now.UTC().Format(time.RFC3339Nano), was.UTC().Format(time.RFC3339Nano)))
	}
	return nil
}

// Release closes r, which Open returned, unless it stays open.
func (f *StableFile) Release(r *os.File) {
	if r != f.kept {
		r.Close()
	}
}

// Close closes the file if it stays open.
func (f *StableFile) Close() error {
	if f.kept == nil {
		return nil
	}
	return f.kept.Close()
}

// Changed is the error of a file that has changed since it was opened. It wraps [ErrFile].
func (f *StableFile) Changed(what string) error {
	return exitcode.With(exitcode.BadData, WholeFile(fmt.Errorf("input: %s changed while it was read: %s", f.Name, what)))
}

// ReadError is that of the package, but that the file ends early means that it has changed: size is
// that of its content.
func (f *StableFile) ReadError(err error, size int64) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return f.Changed(fmt.Sprintf("it has fewer than %d bytes", size))
	}
	if _, ok := errors.AsType[*fs.PathError](err); !ok {
		err = &fs.PathError{Op: "read", Path: f.Name, Err: err}
	}
	return ReadError(f.Name, err)
}
