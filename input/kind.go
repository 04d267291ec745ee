package input

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// headBytes is how much of the beginning of a file tells its kind.
const headBytes = 4 << 10

// kind is a kind of files that their first bytes tell. Readers inflate the kinds that have
// an inflate, and refuse all others with the way out.
type kind struct {
	name, wayOut string
	magics       []string // ? is any byte
	inflate      func(*bufio.Reader) (io.Reader, error)

	text bool                   // only where text is wanted: the bytes may begin another format
	is   func(head []byte) bool // in place of magics
}

// kinds is the table of all kinds. The first that fits is the kind of a file.
func kinds() []kind {
	const (
		unpack = "unpack it, or use gzip or zstd"
		export = "export it as CSV or TFRecords"
		recode = "convert it to UTF-8, as iconv -f UTF-16 -t UTF-8 does"
	)
	return []kind{
		{name: "gzip", wayOut: unpack, magics: []string{"\x1f\x8b"}, inflate: NewGzip},
		{name: "zstd", wayOut: unpack, magics: []string{"\x28\xb5\x2f\xfd", "?\x2a\x4d\x18"}, inflate: NewZstd}, // a frame, and one of 16 to skip
		{name: "bzip2", wayOut: unpack, magics: []string{"BZh?1AY&SY", "BZh?\x17\x72\x45\x38\x50\x90"}},
		{name: "xz", wayOut: unpack, magics: []string{"\xfd7zXZ\x00"}},
		{name: "zip (or .xlsx, .npz)", wayOut: unpack, magics: []string{"PK\x03\x04", "PK\x05\x06"}},
		{name: "lz4", wayOut: unpack, magics: []string{"\x04\x22\x4d\x18", "\x02\x21\x4c\x18"}},
		{name: "7z", wayOut: unpack, magics: []string{"7z\xbc\xaf\x27\x1c"}},
		{name: "rar", wayOut: unpack, magics: []string{"Rar!\x1a\x07"}},
		{name: "tar", wayOut: unpack, magics: []string{strings.Repeat("?", 257) + "ustar"}},
		{name: "Parquet", wayOut: "want format: parquet", magics: []string{"PAR1\x15"}},
		{name: "Avro", wayOut: export, magics: []string{"Obj\x01"}},
		{name: "HDF5", wayOut: export, magics: []string{"\x89HDF\r\n\x1a\n"}},
		{name: "NumPy", wayOut: export, magics: []string{"\x93NUMPY"}},
		{name: "pickle", wayOut: export, magics: []string{"\x80\x02", "\x80\x03", "\x80\x04", "\x80\x05"}},
		{name: "Excel (.xls)", wayOut: export, magics: []string{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"}},
		{name: "ELF, a program", wayOut: "want data", magics: []string{"\x7fELF"}},
		{name: "a pointer of Git LFS", wayOut: "fetch the file, as git lfs pull does", magics: []string{"version https://git-lfs"}},
		{name: "HTML", wayOut: "want data, which a server may have answered with a page", magics: []string{"<!DOCTYPE", "<!doctype", "<html", "<HTML"}},
		{name: "UTF-16", wayOut: recode, magics: []string{"\xff\xfe", "\xfe\xff"}},
		{name: "UTF-16", wayOut: recode, magics: []string{strings.Repeat("?\x00", 6), strings.Repeat("\x00?", 6)}, text: true},
		{name: `text whose lines end with \r alone`, wayOut: `end the lines with \n, as tr '\r' '\n' does`, is: endsWithReturn, text: true},
		{name: "no text: a byte of its first line is 0", wayOut: "want text, or another format", is: hasZero, text: true},
	}
}

// fits reports whether head is of the kind.
func (k *kind) fits(head []byte, text bool) bool {
	if k.text && !text {
		return false
	}
	return k.is != nil && k.is(head) || slices.ContainsFunc(k.magics, func(magic string) bool {
		for i, c := range []byte(magic) {
			if i == len(head) || c != '?' && c != head[i] {
				return false
			}
		}
		return true
	})
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
	k, err := kindOf(name, head, text)
	return k.name, err
}

// CheckContent returns an error if what a compressed file contains, which begins with head, is of another
// kind, or compressed again.
func CheckContent(name string, head []byte) error {
	name += ", unpacked,"
	k, err := kindOf(name, head, false)
	if k.name != "" {
		err = k.refuse(name)
	}
	return err
}

// kindOf returns the kind of a file that can be inflated, and else none.
func kindOf(name string, head []byte, text bool) (kind, error) {
	for _, k := range kinds() {
		if !k.fits(head, text) {
			continue
		}
		if k.inflate == nil {
			return kind{}, k.refuse(name)
		}
		return k, nil
	}
	return kind{}, nil
}

func (k *kind) refuse(name string) error {
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
	for zeros := int64(0); ; zeros++ {
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
			if err == nil {
				err = fmt.Errorf("%s behind the end of gzip", phrase.Count(int(zeros+rest), "byte"))
			}
			return err
		}
		m.file.Discard(1)
	}
}
