package tfrecord

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// file is one file with the offsets of its records.
type file struct {
	*input.StableFile
	starts []int64     // offset of each record, and the end
	at     io.ReaderAt // memory, or the file if it stays open; nil: it is opened for each read
}

func (f *file) records() int { return len(f.starts) - 1 }

// read appends a record with head and tail to dst.
func (f *file) read(dst []byte, record int) ([]byte, error) {
	from, n := f.starts[record], int(f.starts[record+1]-f.starts[record])
	dst = slices.Grow(dst, n)[:len(dst)+n]
	at := f.at
	if at == nil {
		r, err := f.Open()
		if err != nil {
			return dst, err
		}
		defer f.Release(r)
		at = r
	}
	if _, err := at.ReadAt(dst[len(dst)-n:], from); err != nil {
		return dst, f.ReadError(err, f.starts[f.records()])
	}
	return dst, nil
}

// base returns the file's name and size.
func (f *file) base() string { return fmt.Sprintf("%s %d", input.ManifestName(f.Name), f.Size) }

// openFile opens and indexes a file. With keep a plain file stays open.
func openFile(ctx context.Context, name string, c Config, keep bool) (*file, error) {
	stable, r, err := input.OpenStable(name, name)
	if err != nil {
		return nil, err
	}
	f := &file{StableFile: stable}
	if err = f.index(ctx, r, c); err == nil && f.at == nil && keep {
		f.at = r
		f.Keep(r)
		return f, nil
	}
	return f, errors.Join(err, r.Close())
}

// mostOpen returns how many files of a data set stay open: a share of what the process may open.
// Others are opened for each record.
func mostOpen() int {
	const fewest, share = 16, 16
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fewest
	}
	return max(fewest, int(min(uint64(limit.Cur), 1<<20)/share))
}

// index finds the records. A compressed file is decompressed to memory.
func (f *file) index(ctx context.Context, r *os.File, c Config) (err error) {
	compression, content, size := c.Compression, io.ReaderAt(r), f.Size
	if compression == "" || compression == "auto" {
		head, err := input.Head(r)
		if err != nil {
			return input.ReadError(f.Name, err)
		}
		if compression, err = detect(f.Name, head); err != nil {
			return err
		}
	}
	if compression != "none" {
		held, err := inflate(input.WithContext(ctx, r), size, compression, c.Limits)
		if err != nil {
			return input.ReadError(f.Name, err)
		}
		f.at, content, size = held, held, held.Size()
	}
	if f.starts, err = index(ctx, f.Name, content, size); err != nil && compression != "none" {
		head, _ := input.Head(content)
		err = cmp.Or(input.CheckContent(f.Name, head), err)
	}
	return err
}

// detect determines the compression of a file from its first bytes. A plain file may
// begin with those of any kind, so detect first checks the crc of the first length.
func detect(name string, head []byte) (string, error) {
	if len(head) >= headBytes {
		if _, have, want := lengthOf(head); have == want {
			return "none", nil
		}
	}
	if len(head) >= 2 && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 { // RFC 1950: CMF, FLG
		return "zlib", nil
	}
	compression, err := input.Compression(name, head, false)
	return cmp.Or(compression, "none"), err
}

// inflate decompresses r, a file of size bytes, to memory.
func inflate(r io.Reader, size int64, compression string, limits input.Limits) (*input.Memory, error) {
	content := bufio.NewReaderSize(r, 64<<10)
	var plain io.Reader
	var err error
	switch compression {
	case "gzip":
		plain, err = input.NewGzip(content)
	case "zstd":
		plain, err = input.NewZstd(content)
	default:
		plain, err = zlib.NewReader(content)
	}
	if err != nil {
		return nil, err
	}
	if z, ok := plain.(*zstd.Decoder); ok {
		defer z.Close()
	}
	held := new(input.Memory)
	if _, err = held.ReadFrom(limits.Inflate(plain, size)); err != nil {
		return nil, err
	}
	if rest, err := io.Copy(io.Discard, content); rest > 0 || err != nil {
		return nil, errors.Join(err, fmt.Errorf("%s behind the end of %s", phrase.Count(int(rest), "byte"), compression))
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
