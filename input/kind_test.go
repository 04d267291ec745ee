package input_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// gzipped and zstdOf return compressed text.
func gzipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstdOf(t testing.TB, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

// readAll opens a file of some content and reads it.
func readAll(t testing.TB, content string, open func(context.Context, string, input.Limits) (*input.File, error)) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := open(t.Context(), path, input.Limits{})
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		err = input.ReadError(path, err)
	}
	return string(text), err
}

// utf16 returns ASCII as UTF-16.
func utf16(text string, order string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		b.WriteString(map[string]string{"little": string([]byte{c, 0}), "big": string([]byte{0, c})}[order])
	}
	return b.String()
}

// TestOtherKinds verifies that a file of another kind is an error with the code 65 that names file,
// kind and way out, also within gzip and zstd. The beginnings are those that bzip2, xz, zip, lz4, 7z,
// tar, iconv and others write. What may begin data of another format than text is refused as text only.
func TestOtherKinds(t *testing.T) {
	tests := []struct {
		head, kind, wayOut string
		text               bool
	}{
		{"BZh91AY&SY[\xfaZ\x10\x00\x00\b\xd8", "bzip2", "unpack it, or use gzip or zstd", false},
		{"BZh1\x17\x72\x45\x38\x50\x90\x00\x00\x00\x00", "bzip2", "unpack it", false},
		{"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F", "xz", "unpack it", false},
		{"PK\x03\x04\x14\x00\x00\x00\x00\x00", "zip (or .xlsx, .npz)", "unpack it", false},
		{"\x04\"M\x18d@\xa7\x1c\x00\x00\x80", "lz4", "unpack it", false},
		{"7z\xbc\xaf\x27\x1c\x00\x04", "7z", "unpack it", false},
		{"a.csv" + strings.Repeat("\x00", 252) + "ustar\x0000", "tar", "unpack it", false},
		{"PAR1\x15\x04\x15", "Parquet", "want format: parquet", false},
		{"\x93NUMPY\x01\x00", "NumPy", "export it as CSV", false},
		{"\x80\x04\x95\x1b", "pickle", "export it as CSV", false},
		{"\x7fELF\x02\x01\x01", "ELF, a program", "want data", false},
		{"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", "a pointer of Git LFS", "git lfs pull", false},
		{"<!DOCTYPE html>\n<html>", "HTML", "want data", false},
		{"\xff\xfe" + utf16("1 2:1\n", "little"), "UTF-16", "iconv", false},
		{"\xfe\xff" + utf16("1 2:1\n", "big"), "UTF-16", "iconv", false},
		{utf16("1 2:1\n", "little"), "UTF-16", "iconv", true},
		{utf16("1 2:1\n", "big"), "UTF-16", "iconv", true},
		{"1 2:1\r0 3:1\r", `text whose lines end with \r alone`, "tr", true},
		{"\x00\x00\x08\x03\x00\x00\x00\x01", "no text: a byte of its first line is 0", "want text", true},
	}
	for _, tt := range tests {
		for within, content := range map[string]string{"": tt.head, ", unpacked,": gzipped(t, tt.head), ", unpacked, ": zstdOf(t, tt.head)} {
			_, err := readAll(t, content, input.OpenText)
			want := fmt.Sprintf("data%s is %s: ", strings.TrimSuffix(within, " "), tt.kind)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), tt.wayOut) || exitcode.Of(err) != exitcode.BadData || !errors.Is(err, input.ErrFile) {
				t.Errorf("%.12q: error %v (%d), want %s…%s", tt.head, err, exitcode.Of(err), want, tt.wayOut)
			}
			if got, err := readAll(t, content, input.OpenFile); (err == nil) != tt.text || err == nil && got != tt.head {
				t.Errorf("%.12q: %.12q, error %v where text is not wanted", tt.head, got, err)
			}
		}
	}
}

// TestKnownKinds verifies that good files are read whole: text that resembles another kind, each of
// the 17 magic numbers of zstd, several members of gzip, and zeros behind gzip.
func TestKnownKinds(t *testing.T) {
	const text = "1 2:1\n0 3:1\n"
	skipped := "\x2a\x4d\x18\x03\x00\x00\x00abc"
	tests := map[string]string{
		"BZh,PAR1\n1,2\n": "BZh,PAR1\n1,2\n", "PAR1,y\n": "PAR1,y\n", "\xef\xbb\xbfa\n": "\xef\xbb\xbfa\n", "1\r\n\r2": "1\r\n\r2", "1\r": "1\r", "": "", "a\n\x00": "a\n\x00",
		gzipped(t, text) + gzipped(t, "more\n"): text + "more\n", gzipped(t, text) + strings.Repeat("\x00", 70000): text, gzipped(t, ""): "",
		zstdOf(t, text) + zstdOf(t, "more\n"): text + "more\n",
	}
	for c := byte(0x50); c < 0x60; c++ {
		tests[string([]byte{c})+skipped+zstdOf(t, text)] = text
	}
	for content, want := range tests {
		if got, err := readAll(t, content, input.OpenText); err != nil || got != want {
			t.Errorf("%.12q: %.40q, error %v, want %.40q", content, got, err, want)
		}
	}
	if _, err := readAll(t, zstdOf(t, text)+"12345678", input.OpenText); err == nil || !strings.Contains(err.Error(), "data: bytes behind the end of zstd that are no zstd") {
		t.Errorf("8 bytes behind zstd: error %v", err)
	}
	for behind, want := range map[string]string{"12345678": "8 bytes behind the end of gzip", "\x00\x00\x001": "4 bytes behind the end of gzip", "\x1f": "1 byte behind", "\x1f\x8bxxxxxxxxxx": "gzip: invalid header"} {
		_, err := readAll(t, gzipped(t, text)+behind, input.OpenText)
		if err == nil || !strings.Contains(err.Error(), want) || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("%q behind gzip: error %v, want %s", behind, err, want)
		}
	}
}
