package input

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ringtrain/ring/exitcode"
)

// File is an input file that is read sequentially. If it begins with the two bytes of
// gzip, 1f 8b, or the four of zstd, 28 b5 2f fd, Read returns the decompressed content,
// within the limits.
type File struct {
	Name  string // the name passed to OpenFile
	Bytes int64  // on disk
	Gzip  bool
	Zstd  bool
	Most  int64 // maximum content: Bytes, or the limit for gzip and zstd

	io.Reader
	file *os.File
	zstd *zstd.Decoder // nil if the file is not zstd
}

// OpenFile opens an input file and detects its compression. See [OpenRaw] and
// [ReadError] for the codes of its errors.
func OpenFile(name string, limits Limits) (*File, error) {
	raw, size, err := OpenRaw(name)
	if err != nil {
		return nil, err
	}
	f := &File{Name: name, Bytes: size, Most: size, file: raw}
	buffered := bufio.NewReaderSize(raw, 64<<10)
	f.Reader = buffered
	magic, err := buffered.Peek(4)
	if err != nil && err != io.EOF {
		return nil, errors.Join(ReadError(name, err), f.Close())
	}
	f.Gzip, f.Zstd = strings.HasPrefix(string(magic), "\x1f\x8b"), string(magic) == "\x28\xb5\x2f\xfd"
	var plain io.Reader
	switch {
	case f.Gzip:
		plain, err = gzip.NewReader(buffered)
	case f.Zstd:
		// Use one goroutine, and the window that zstd itself accepts without --long.
		f.zstd, err = zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		plain = f.zstd
	default:
		return f, nil
	}
	if err != nil {
		return nil, errors.Join(ReadError(name, err), f.Close())
	}
	f.Reader, f.Most = limits.Inflate(plain, size), limits.inflated(size)
	return f, nil
}

// Close closes the file.
func (f *File) Close() error {
	if f.zstd != nil {
		f.zstd.Close()
	}
	return f.file.Close()
}

// OpenRaw opens an input file without decompression and returns its size. The error has
// exitcode.NoInput if the file is missing, unreadable or not a regular file, else exitcode.IO.
func OpenRaw(name string) (*os.File, int64, error) {
	f, info, err := openRegular(name)
	if err == nil {
		return f, info.Size(), nil
	}
	code := exitcode.IO
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, errIrregular) {
		code = exitcode.NoInput
	}
	return nil, 0, exitcode.With(code, fmt.Errorf("input: %w", err))
}

// errIrregular reports a folder, a pipe or a device.
var errIrregular = errors.New("want a regular file")

// openRegular opens a file whose records can be read in any order, and again. It does not open a
// pipe: that would wait for a writer.
func openRegular(name string) (*os.File, fs.FileInfo, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		what := "pipe or a device"
		if info.IsDir() {
			what = "folder"
		}
		return nil, nil, fmt.Errorf("%s is a %s, %w", name, what, errIrregular)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// ReadError adds the file name and a code to a read error: exitcode.IO for an error of
// the system, else exitcode.BadData, because the file ended early or its compression is
// broken.
func ReadError(name string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return exitcode.With(exitcode.IO, fmt.Errorf("input: %s: %w", name, pe.Err))
	}
	if flaw, ok := errors.AsType[flate.CorruptInputError](err); ok {
		err = fmt.Errorf("compressed data is corrupt at byte %d", int64(flaw))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = errors.New("file ends early")
	}
	return exitcode.With(exitcode.BadData, fmt.Errorf("input: %s: %w", name, err))
}
