package tfrecord

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// file is one file with the offsets of its records.
type file struct {
	name   string
	disk   int64   // bytes on disk
	starts []int64 // offset of each record, and the end
	at     io.ReaderAt
	raw    *os.File // nil if the file is in memory
}

func (f *file) records() int { return len(f.starts) - 1 }

func (f *file) close() error {
	if f.raw == nil {
		return nil
	}
	return f.raw.Close()
}

// read appends a record with head and tail to dst.
func (f *file) read(dst []byte, record int) ([]byte, error) {
	from, n := f.starts[record], int(f.starts[record+1]-f.starts[record])
	dst = slices.Grow(dst, n)[:len(dst)+n]
	switch _, err := f.at.ReadAt(dst[len(dst)-n:], from); {
	case err == io.EOF:
		return dst, errors.New("the file has become shorter since it was opened")
	case err != nil:
		return dst, exitcode.With(exitcode.IO, err)
	}
	return dst, nil
}

// line returns the file's line of the manifest.
func (f *file) line() string {
	return fmt.Sprintf("%s %d %d", filepath.Base(f.name), f.disk, f.records())
}

// openFile opens and indexes a file.
func openFile(name string, c Config) (*file, error) {
	raw, size, err := input.OpenRaw(name)
	if err != nil {
		return nil, err
	}
	f := &file{name: name, disk: size, at: raw, raw: raw}
	compression := c.Compression
	if compression == "" || compression == "auto" {
		if compression, err = detect(raw); err != nil {
			raw.Close()
			return nil, input.ReadError(name, err)
		}
	}
	if compression != "none" {
		defer raw.Close()
		held, err := inflate(raw, size, compression, c.Limits)
		if err != nil {
			return nil, input.ReadError(name, err)
		}
		f.at, f.raw, size = held, nil, held.Size()
	}
	if f.starts, err = index(name, f.at, size); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// detect determines the compression of a file from its first bytes. A plain file may
// begin with the bytes of gzip, so detect first checks the crc of the first length.
func detect(r io.ReaderAt) (string, error) {
	var head [headBytes]byte
	n, err := r.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return "", err
	}
	if _, have, want := lengthOf(head[:]); n == headBytes && have == want {
		return "none", nil
	}
	switch {
	case n >= 2 && head[0] == 0x1f && head[1] == 0x8b:
		return "gzip", nil
	case n >= 2 && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0: // RFC 1950: CMF, FLG
		return "zlib", nil
	}
	return "none", nil
}

// inflate decompresses r, a file of size bytes, to memory.
func inflate(r io.Reader, size int64, compression string, limits input.Limits) (*input.Memory, error) {
	var plain io.Reader
	var err error
	if compression == "gzip" {
		plain, err = gzip.NewReader(r)
	} else {
		plain, err = zlib.NewReader(r)
	}
	if err != nil {
		return nil, err
	}
	held := new(input.Memory)
	if _, err = held.ReadFrom(limits.Inflate(plain, size)); err != nil {
		return nil, err
	}
	return held, nil
}

// checkCompression returns an error for an unknown compression.
func checkCompression(word string) error {
	switch word {
	case "", "auto", "none", "gzip", "zlib":
		return nil
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("compression is %q, want auto, none, gzip or zlib", word))
}
