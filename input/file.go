package input

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"ringtrain/ring/exitcode"
)

// File is an input file that is read sequentially. If it is gzip or zstd by its first bytes,
// Read returns the decompressed content, within the limits. When the context of OpenFile ends, Read returns
// its cause.
type File struct {
	Name       string // the name passed to OpenFile
	Bytes      int64  // on disk
	Compressed bool
	Most       int64 // maximum content: Bytes, or the limit if it is compressed

	io.Reader
	file    io.ReadCloser
	piped   bool      // file gives what is there, and then waits
	inflate io.Reader // nil: the file is plain
}

// OpenFile opens an input file and detects its compression. See [OpenRaw] and
// [ReadError] for the codes of its errors. A file of a kind that no reader reads is
// exitcode.BadData.
func OpenFile(ctx context.Context, name string, limits Limits) (*File, error) {
	return openFile(ctx, name, limits, false)
}

// OpenText is OpenFile of text.
func OpenText(ctx context.Context, name string, limits Limits) (*File, error) {
	return openFile(ctx, name, limits, true)
}

// TextOf is OpenText of what a pipe gives, which may inflate to any size. When ctx ends, a read that waits for the pipe
// returns, too. The File does not close the pipe.
func TextOf(ctx context.Context, name string, pipe io.Reader) (*File, error) {
	return contentOf(ctx, name, pipe, true)
}

// FileOf is TextOf of any content.
func FileOf(ctx context.Context, name string, pipe io.Reader) (*File, error) {
	return contentOf(ctx, name, pipe, false)
}

func contentOf(ctx context.Context, name string, pipe io.Reader, text bool) (*File, error) {
	in, out := io.Pipe()
	go func() {
		_, err := io.Copy(out, pipe)
		out.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { out.CloseWithError(stopped{context.Cause(ctx)}) })
	f := &File{Name: name, Most: math.MaxInt64, file: in, piped: true}
	return f, f.begin(ctx, Limits{MaxInflate: math.MaxInt64}, text)
}

func openFile(ctx context.Context, name string, limits Limits, text bool) (*File, error) {
	raw, size, err := OpenRaw(name)
	if err != nil {
		return nil, err
	}
	f := &File{Name: name, Bytes: size, Most: size, file: raw}
	if err := f.begin(ctx, limits, text); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// begin finds the kind of the file, and that of its content.
func (f *File) begin(ctx context.Context, limits Limits, text bool) error {
	content := bufio.NewReaderSize(f.file, 64<<10)
	for name := f.Name; ; name = f.Name + ", unpacked," {
		f.Reader = WithContext(ctx, content)
		head, err := f.head(content)
		if err != nil && err != io.EOF {
			return ReadError(f.Name, err)
		}
		k, err := kindOf(name, head, text)
		if err != nil || k.inflate == nil {
			return err
		}
		if f.Compressed {
			return k.refuse(name)
		}
		if f.inflate, err = k.inflate(content); err != nil {
			return ReadError(f.Name, err)
		}
		f.Compressed, f.Most = true, limits.inflated(f.Bytes)
		content = bufio.NewReaderSize(limits.Inflate(f.inflate, f.Bytes), headBytes)
	}
}

// head returns the first bytes of the content, which tell its kind: of a pipe those that are there.
func (f *File) head(content *bufio.Reader) ([]byte, error) {
	if !f.piped {
		return content.Peek(headBytes)
	}
	if _, err := content.Peek(1); err != nil {
		return nil, err
	}
	return content.Peek(min(content.Buffered(), headBytes))
}

// Close closes the file.
func (f *File) Close() error {
	if z, ok := f.inflate.(*zstd.Decoder); ok {
		z.Close()
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

// WithContext returns r, of which no read begins when ctx has ended: its error is the cause.
func WithContext(ctx context.Context, r io.Reader) io.Reader { return stoppable{ctx, r} }

type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, stopped{context.Cause(s.ctx)}
	}
	return s.r.Read(p)
}

// stopped is the cause of a context that has ended.
type stopped struct{ error }

func (s stopped) Unwrap() error { return s.error }

// ReadError adds the file name and a code to a read error: exitcode.IO for an error of
// the system, else exitcode.BadData, because the file ended early or its compression is
// broken. The cause of a context stays as it is.
func ReadError(name string, err error) error {
	if cause, ok := errors.AsType[stopped](err); ok {
		return cause
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return exitcode.With(exitcode.IO, fmt.Errorf("input: %s: %w", name, pe.Err))
	}
	if flaw, ok := errors.AsType[flate.CorruptInputError](err); ok {
		err = fmt.Errorf("compressed data is corrupt at byte %d", int64(flaw))
	}
	if errors.Is(err, zstd.ErrMagicMismatch) { // the first frame had it
		err = errors.New("bytes behind the end of zstd that are no zstd")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = errors.New("file ends early")
	}
	return exitcode.With(exitcode.BadData, fmt.Errorf("input: %s: %w", name, err))
}
