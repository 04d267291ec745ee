package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/ring/exitcode"
)

// wantPiped verifies that a pipe has the records of a file of a text, or of the file of s if the text is empty.
func wantPiped(t *testing.T, s Spec, text string) {
	t.Helper()
	s.Cache, s.Learn = CacheOff, false
	if text != "" {
		s.Files = []string{filepath.Join(t.TempDir(), "records.txt")}
		if err := os.WriteFile(s.Files[0], []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	from, err := os.Open(s.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	p, err := s.OpenPipe(from)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	err = p.Each(t.Context(), func(got *input.Batch) error {
		want := input.Batch{WantKeys: true}
		for range got.Y {
			if err := d.Append(&want, at); err != nil {
				return err
			}
			at++
		}
		want.X.Bags.Index()
		if !reflect.DeepEqual(got.X.Dense, want.X.Dense) || !slices.Equal(got.X.Bags.Slot, want.X.Bags.Slot) || !slices.Equal(got.X.Bags.Start, want.X.Bags.Start) ||
			!slices.Equal(got.X.Bags.Weights, want.X.Bags.Weights) || !slices.Equal(got.Keys, want.Keys) {
			t.Errorf("format %s: the pipe has %+v, want %+v", s.Format, got.X, want.X)
		}
		return nil
	})
	if err != nil || at != d.Facts().Records {
		t.Errorf("format %s: %d records of a pipe, error %v, want %d", s.Format, at, err, d.Facts().Records)
	}
}

// pipeOf returns the pipe of a CSV with the columns k, a key, and a.
func pipeOf(t *testing.T, header bool, from io.Reader) *Pipe {
	t.Helper()
	plan, err := column.Compile([]column.Column{{Key: &column.KeyOptions{Names: []string{"k"}}}, {Numeric: &column.NumericOptions{Names: []string{"a"}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Spec{Origin: Origin{Format: "csv", Header: header}, Columns: plan, LabelRule: input.Labels{Absent: true}}.OpenPipe(from)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPipeAnswers verifies that records are handed on as soon as their lines are there, while the pipe waits for more, and
// that a context that ends ends the wait.
func TestPipeAnswers(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	go fmt.Fprint(out, "a,k\n1,first\n2,second\n3,thi")
	var got []string
	err := pipeOf(t, true, in).Each(ctx, func(b *input.Batch) error {
		if got = append(got, b.Keys...); len(got) == 2 {
			go fmt.Fprint(out, "rd\n")
		}
		if len(got) == 3 {
			cancel(errStopped)
		}
		return nil
	})
	if want := []string{"first", "second", "third"}; !slices.Equal(got, want) || !errors.Is(err, errStopped) {
		t.Errorf("keys %q, error %v, want %q and that it was stopped", got, err, want)
	}
}

// TestPipeFaults verifies what is said of a pipe without records and of a bad line, that the records before a bad line
// are handed on, and that what is compressed is read.
func TestPipeFaults(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	io.WriteString(w, "k,a\nx,1\ny,2\n")
	w.Close()
	for _, tt := range []struct {
		name, text string
		header     bool
		records    int
		err        string
	}{
		{"empty", "", false, 0, "csv: no records in standard input"},
		{"a header alone", "k,a\n", true, 0, "csv: no records in standard input"},
		{"no such column", "k,b\nx,1\n", true, 0, "csv: standard input:1: no column a, which input.columns names"},
		{"names twice", "k,a,a\nx,1,1\n", true, 0, "csv: standard input:1: the header names a twice"},
		{"a bad number", "x,1\ny,2\nz,much\nx,1\n", false, 2, `csv: standard input:3: column a is "much"`},
		{"a bad line behind a header", "k,a\n\nx,1\ny\n", true, 1, "csv: standard input:4: has 1 field, want 2"},
		{"no last end", "k,a\nx,1", true, 1, ""},
		{"a quote over lines", "k,a\n\"x\n\"\"y\",1\n", true, 1, ""},
		{"gzip", packed.String(), true, 2, ""},
		{"UTF-16", "\xff\xfek\x00", true, 0, "standard input"},
	} {
		records := 0
		err := pipeOf(t, tt.header, strings.NewReader(tt.text)).Each(t.Context(), func(b *input.Batch) error { records += len(b.Y); return nil })
		if records != tt.records || (err == nil) != (tt.err == "") || err != nil && (!strings.Contains(err.Error(), tt.err) || exitcode.Of(err) != exitcode.BadData) {
			t.Errorf("%s: %d records, error %v, want %d and %q", tt.name, records, err, tt.records, tt.err)
		}
	}
	p := pipeOf(t, false, strings.NewReader("x,1\nz,much\ny,2\n"))
	p.tolerate = true
	if err := p.Each(t.Context(), func(b *input.Batch) error {
		if len(b.Y) != 2 || !slices.Equal(b.Bad, []int{1}) || b.Lost != 1 || !strings.Contains(fmt.Sprint(b.Fault), "standard input:2") {
			t.Errorf("%d records, bad %v, fault %v, want 2, [1] and one of line 2", len(b.Y), b.Bad, b.Fault)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if _, err := (Spec{Origin: Origin{Format: "idx"}}).OpenPipe(nil); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("a pipe of idx: error %v, want one of usage", err)
	}
	why := errors.New("why")
	if err := pipeOf(t, false, strings.NewReader("x,1\n")).Each(t.Context(), func(*input.Batch) error { return why }); !errors.Is(err, why) {
		t.Errorf("error %v, want the caller's", err)
	}
}
