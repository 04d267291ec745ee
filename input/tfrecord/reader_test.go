package tfrecord

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// stream returns the bytes of records.
func stream(t *testing.T, records ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, r := range records {
		if err := w.Write([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// TestReader verifies that a Reader returns the records of a Writer, including one
// longer than a grain, and then io.EOF.
func TestReader(t *testing.T) {
	want := []string{"one", "", strings.Repeat("long", grain)}
	r := NewReader(bytes.NewReader(stream(t, want...)), "file")
	for i, w := range want {
		got, err := r.Next()
		if err != nil || string(got) != w {
			t.Fatalf("record %d has %d bytes and error %v, want %d bytes", i, len(got), err, len(w))
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("error %v after the last record, want io.EOF", err)
	}
}

// TestReaderCut verifies that a file that ends within its second record gives the first
// record and then io.ErrUnexpectedEOF with the record and its offset.
func TestReaderCut(t *testing.T) {
	whole := stream(t, "first", "second")
	first := len(stream(t, "first"))
	for n := first + 1; n < len(whole); n++ {
		r := NewReader(bytes.NewReader(whole[:n]), "file")
		if got, err := r.Next(); string(got) != "first" {
			t.Fatalf("bytes=%d: first record is %q, error %v", n, got, err)
		}
		_, err := r.Next()
		if !errors.Is(err, io.ErrUnexpectedEOF) || exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "record 1 at byte 21") {
			t.Fatalf("bytes=%d: error %v, want record 1 at byte 21 cut", n, err)
		}
	}
}

// TestReaderBad verifies that one wrong byte in a record is an error.
func TestReaderBad(t *testing.T) {
	whole := stream(t, "first")
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1
		if got, err := NewReader(bytes.NewReader(b), "file").Next(); err == nil || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("byte=%d: record %q, error %v, want an error of bad data", i, got, err)
		}
	}
}
