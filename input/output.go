package input

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
)

// Output is a file being written. The file appears under its name, complete, when Commit
// returns nil. A device or a pipe is written as it comes.
type Output struct {
	name, beside string   // beside is empty for a device or a pipe
	target       string   // where the links of name end
	file         *os.File // nil after Commit or Close
	buffer       *bufio.Writer
	gzip         *gzip.Writer // nil if not compressed
	w            io.Writer
}

// Create starts the file name, compressed by gzip if the name ends in .gz. The error has
// exitcode.CannotCreate if the file exists and overwrite is false, or if it cannot be
// created. A link stays, and its file is written. Equal content gives equal files.
func Create(name string, overwrite bool) (*Output, error) {
	o, err := start(name, overwrite)
	if err == nil && strings.HasSuffix(name, ".gz") {
		o.gzip = gzip.NewWriter(o.buffer)
		o.w = o.gzip
	}
	return o, err
}

// CreateRaw is Create without compression for a name that a program gives: the file replaces a link.
func CreateRaw(name string, overwrite bool) (*Output, error) {
	if _, err := folder.Nearest(filepath.Dir(name)); err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return create(name, name, overwrite)
}

// start opens a device or a pipe as it stands, and else a file beside the target of name.
func start(name string, overwrite bool) (*Output, error) {
	if info, err := os.Stat(name); err == nil && info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0 {
		return open(name, "", "", os.O_WRONLY)
	}
	target, err := folder.File(name)
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return create(name, target, overwrite)
}

func create(name, target string, overwrite bool) (*Output, error) {
	if _, err := os.Lstat(target); err == nil && !overwrite {
		return nil, exitcode.With(exitcode.CannotCreate, fmt.Errorf("output %s: %w", name, fs.ErrExist))
	}
	beside := fmt.Sprintf("%s.tmp-%016x", target, rand.Uint64())
	return open(name, target, beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
}

func open(name, target, beside string, flags int) (*Output, error) {
	f, err := os.OpenFile(cmp.Or(beside, name), flags, 0o666)
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err // without the temporary name
		}
		return nil, exitcode.With(exitcode.CannotCreate, fmt.Errorf("output %s: %w", name, err))
	}
	o := &Output{name: name, beside: beside, target: target, file: f, buffer: bufio.NewWriterSize(f, 256<<10)}
	o.w = o.buffer
	return o, nil
}

// Write appends p to the file. Its errors carry exitcode.IO.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	return n, o.fault(err)
}

// Commit flushes the file to the disk and renames it to its name. The Output must not be
// used afterwards. An error carries exitcode.IO.
func (o *Output) Commit() error {
	defer o.Close()
	if o.gzip != nil {
		if err := o.gzip.Close(); err != nil {
			return o.fault(err)
		}
	}
	if err := o.buffer.Flush(); err != nil {
		return o.fault(err)
	}
	if o.beside == "" {
		return o.Close()
	}
	if err := o.file.Sync(); err != nil {
		return o.fault(err)
	}
	err := o.file.Close()
	o.file = nil
	if err == nil {
		err = os.Rename(o.beside, o.target)
	}
	if err != nil {
		return o.fault(errors.Join(err, os.Remove(o.beside)))
	}
	return nil
}

// Close removes an uncommitted file. After Commit it does nothing.
func (o *Output) Close() error {
	if o.file == nil {
		return nil
	}
	err := o.file.Close()
	if o.beside != "" {
		err = errors.Join(err, os.Remove(o.beside))
	}
	o.file = nil
	return o.fault(err)
}

func (o *Output) fault(err error) error {
	if err == nil {
		return nil
	}
	return exitcode.With(exitcode.IO, fmt.Errorf("output %s: %w", o.name, err))
}
