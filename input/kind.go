package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ringtrain/ring/exitcode"
)

// headBytes is how much of the beginning of a file tells its kind.
const headBytes = 4 << 10

// kind is a kind of files that their first bytes tell. Readers inflate the kinds that have
// an inflate, and refuse all others with the way out.
type kind struct {
	name    string
	is      func(head []byte) bool
	inflate func(*bufio.Reader) (io.Reader, error)
	wayOut  string
	text    bool // only where text is wanted: the bytes may begin another format
}

// kinds is the table of all kinds. The first that fits is the kind of a file.
func kinds() []kind {
	const (
		unpack  = "unpack it, or use gzip or zstd"
		export  = "export it as CSV or TFRecords"
		recode  = "convert it to UTF-8, as iconv -f UTF-16 -t UTF-8 does"
		newline = `end the lines with \n, as tr '\r' '\n' does`
		data    = "want data"
	)
	return []kind{
		{name: "gzip", is: begins("\x1f\x8b"), inflate: NewGzip, wayOut: unpack},
		{name: "zstd", is: isZstd, inflate: NewZstd, wayOut: unpack},
		{name: "bzip2", is: isBzip2, wayOut: unpack},
		{name: "xz", is: begins("\xfd7zXZ\x00"), wayOut: unpack},
		{name: "zip (or .xlsx, .npz)", is: begins("PK\x03\x04", "PK\x05\x06"), wayOut: unpack},
		{name: "lz4", is: begins("\x04\x22\x4d\x18", "\x02\x21\x4c\x18"), wayOut: unpack},
		{name: "7z", is: begins("7z\xbc\xaf\x27\x1c"), wayOut: unpack},
		{name: "rar", is: begins("Rar!\x1a\x07"), wayOut: unpack},
		{name: "compress (.Z)", is: begins("\x1f\x9d"), wayOut: unpack},
		{name: "snappy", is: begins("\xff\x06\x00\x00sNaPpY"), wayOut: unpack},
		{name: "tar", is: func(head []byte) bool { return len(head) > 262 && string(head[257:262]) == "ustar" }, wayOut: "unpack it"},
		{name: "Parquet", is: begins("PAR1\x15"), wayOut: export},
		{name: "Avro", is: begins("Obj\x01"), wayOut: export},
		{name: "Arrow", is: begins("ARROW1\x00\x00"), wayOut: export},
		{name: "HDF5", is: begins("\x89HDF\r\n\x1a\n"), wayOut: export},
		{name: "NumPy", is: begins("\x93NUMPY"), wayOut: export},
		{name: "pickle", is: func(head []byte) bool { return len(head) > 2 && head[0] == 0x80 && head[1]-2 < 4 }, wayOut: export},
		{name: "SQLite", is: begins("SQLite format 3\x00"), wayOut: export},
		{name: "Excel (.xls)", is: begins("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), wayOut: export},
		{name: "ELF, a program", is: begins("\x7fELF"), wayOut: data},
		{name: "a pointer of Git LFS", is: begins("version https://git-lfs"), wayOut: "fetch the file, as git lfs pull does"},
		{name: "HTML", is: begins("<!DOCTYPE", "<!doctype", "<html", "<HTML"), wayOut: "want data: a server may have answered with a page in place of the file"},
		{name: "UTF-16", is: isUTF16, wayOut: recode, text: true},
		{name: `text whose lines end with \r alone`, is: endsWithReturn, wayOut: newline, text: true},
		{name: "no text: a byte of its first line is 0", is: hasZero, wayOut: "want text, or another format", text: true},
	}
}

// begins returns the test for files that begin with one of magics.
func begins(magics ...string) func([]byte) bool {
	return func(head []byte) bool {
		for _, m := range magics {
			if bytes.HasPrefix(head, []byte(m)) {
				return true
			}
		}
		return false
	}
}

// isZstd knows the 17 magic numbers of zstd: that of a frame, and those of frames to skip.
func isZstd(head []byte) bool {
	return begins("\x28\xb5\x2f\xfd")(head) || len(head) > 3 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18"
}

// isBzip2 knows the blocks that follow the level, and the end of an empty file.
func isBzip2(head []byte) bool {
	return len(head) > 9 && string(head[:3]) == "BZh" && begins("1AY&SY", "\x17\x72\x45\x38\x50\x90")(head[4:])
}

// isUTF16 knows the byte order mark. Without it the first 16 characters must be ASCII.
func isUTF16(head []byte) bool {
	if begins("\xff\xfe", "\xfe\xff")(head) {
		return true
	}
	var zeros [2]int // at even and odd places
	n := min(len(head)&^1, 32)
	for i, c := range head[:n] {
		if c == 0 {
			zeros[i&1]++
		}
	}
	return n > 2 && (zeros == [2]int{0, n / 2} || zeros == [2]int{n / 2, 0})
}

// endsWithReturn reports whether a line follows \r, and no line ends with \n.
func endsWithReturn(head []byte) bool {
	_, rest, found := bytes.Cut(head, []byte("\r"))
	return found && len(bytes.TrimSpace(rest)) > 0 && bytes.IndexByte(head, '\n') < 0
}

func hasZero(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.IndexByte(line, 0) >= 0
}

// Head returns the first bytes of a file, which tell its kind.
func Head(r io.ReaderAt) ([]byte, error) {
	head := make([]byte, headBytes)
	n, err := r.ReadAt(head, 0)
	if err == io.EOF {
		err = nil
	}
	return head[:n], err
}

// Compression returns "gzip" or "zstd" for the head of a file that is compressed so, and ""
// for a file that can be read as it is. A file of another kind is an error with
// exitcode.BadData.
func Compression(name string, head []byte, text bool) (string, error) {
	k := kindOf(head, text)
	if k.inflate == nil {
		return "", k.check(name)
	}
	return k.name, nil
}

// peekKind returns the kind of what r reads next.
func peekKind(r *bufio.Reader, text bool) (kind, error) {
	head, err := r.Peek(headBytes)
	if err == io.EOF {
		err = nil
	}
	return kindOf(head, text), err
}

func kindOf(head []byte, text bool) kind {
	for _, k := range kinds() {
		if (text || !k.text) && k.is(head) {
			return k
		}
	}
	return kind{}
}

// check refuses a file that has a kind.
func (k kind) check(name string) error {
	if k.name == "" {
		return nil
	}
	return exitcode.With(exitcode.BadData, WholeFile(fmt.Errorf("input: %s is %s: %s", name, k.name, k.wayOut)))
}

// NewZstd returns the content of a zstd file. It uses one goroutine, and the window that zstd itself accepts without --long.
func NewZstd(r *bufio.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
}

// NewGzip returns the content of all members of a gzip file. Zeros may follow them, with which
// tapes and block devices fill up; other bytes are an error.
func NewGzip(r *bufio.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{r, z}, nil
}

// members reads the members of a gzip file.
type members struct {
	file   *bufio.Reader
	member *gzip.Reader
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.member.Read(p)
		if n > 0 && err == io.EOF {
			err = nil
		}
		if n > 0 || err != io.EOF {
			return n, err
		}
		if err := m.next(); err != nil {
			return 0, err
		}
	}
}

// next begins the next member. It returns io.EOF behind the last one.
func (m *members) next() error {
	zeros := int64(0)
	for {
		head, err := m.file.Peek(2)
		switch {
		case len(head) == 0:
			return err
		case string(head) == "\x1f\x8b":
			err := m.member.Reset(m.file)
			m.member.Multistream(false)
			return err
		case head[0] != 0:
			rest, err := io.Copy(io.Discard, m.file)
			return errors.Join(err, fmt.Errorf("%d bytes behind the end of gzip", zeros+rest))
		}
		m.file.Discard(1)
		zeros++
	}
}
