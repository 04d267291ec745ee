package tfrecord

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/ring/exitcode"
)

// learning opens n records with a vocabulary to learn, of which some are bad, but does not learn.
func learning(t *testing.T, n int, bad ...int) *columnSet {
	t.Helper()
	var e Encoder
	good := e.AppendSparse(nil, 1, []uint32{3}, []float32{1})
	good = protowire.AppendBytes(append(good, 0x0a), appendInt64Entry(nil, "city", []int64{7}))
	var records [][]byte
	for range n {
		records = append(records, good)
	}
	for _, i := range bad {
		records[i] = []byte{0xff}
	}
	name := filepath.Join(t.TempDir(), "F")
	if err := os.WriteFile(name, frames(records...), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := column.Compile([]column.Column{
		{Label: &column.LabelOptions{Names: []string{"label"}}},
		{Categorical: &column.CategoricalOptions{Names: []string{"city"}, Vocabulary: "auto"}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := OpenColumns(t.Context(), []string{name}, Config{}, Columns{Plan: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d.(*columnSet)
}

// TestLearnFault verifies that the error of learning is that of the first bad record, however the parts
// end, and that bad records are passed over if they are tolerated.
func TestLearnFault(t *testing.T) {
	const n = 6 * partRecords
	first := 2*partRecords - 1 // at the end of its part: later parts fail sooner
	for range 5 {
		s := learning(t, n, first, 2*partRecords, 3*partRecords, n-1)
		if err := s.learn(t.Context()); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("record %d at byte", first)) {
			t.Fatalf("error %v, want that of record %d", err, first)
		}
		s.config.Tolerate = true
		if err := s.learn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// failing is a file whose disk fails.
type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: "F", Err: syscall.EIO}
}

// TestWholeFileFaults verifies that neither learning, nor the search of names, nor the count of features
// passes over an error of the system, or a file that has changed, though bad records are tolerated.
func TestWholeFileFaults(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(s *columnSet) error
		code  int
		want  string
	}{
		{"disk", func(s *columnSet) error { s.files[0].at = failing{}; return nil }, exitcode.IO, "input/output error"},
		{"shorter", func(s *columnSet) error { return os.Truncate(s.files[0].Name, 30) }, exitcode.BadData, "changed while it was read"},
		{"other lengths", func(s *columnSet) error {
			return os.WriteFile(s.files[0].Name, frames(make([]byte, s.files[0].starts[5]-headBytes-tailBytes)), 0o600)
		}, exitcode.BadData, "changed"},
	} {
		for way, read := range map[string]func(s *columnSet) error{
			"learn":   func(s *columnSet) error { return s.learn(t.Context()) },
			"search":  func(s *columnSet) error { return s.search(t.Context(), make([]byte, 2), 0, s.facts.Records) },
			"measure": func(s *columnSet) error { return s.measure(t.Context()) },
		} {
			s := learning(t, 5)
			s.config.Tolerate = true
			if err := tt.spoil(s); err != nil {
				t.Fatal(err)
			}
			err := read(s)
			if exitcode.Of(err) != tt.code || !strings.Contains(fmt.Sprint(err), tt.want) || tt.code == exitcode.BadData && !errors.Is(err, input.ErrFile) {
				t.Errorf("%s, %s: error %v (%d), want %q (%d)", tt.name, way, err, exitcode.Of(err), tt.want, tt.code)
			}
		}
	}
}

// TestFewOpenFiles verifies that files beyond the bound are closed between records, give the same
// records, and are an error once they have changed.
func TestFewOpenFiles(t *testing.T) {
	s := learning(t, 3)
	kept, name := s.files[0], s.files[0].Name
	closed, err := openFile(t.Context(), name, Config{}, false)
	if err != nil || kept.at == nil || closed.at != nil {
		t.Fatalf("kept %v, closed %v, error %v", kept, closed, err)
	}
	for i := range 3 {
		want, _ := kept.read(nil, i)
		if got, err := closed.read(nil, i); err != nil || string(got) != string(want) {
			t.Errorf("record %d: %x, error %v, want %x", i, got, err, want)
		}
	}
	other := filepath.Join(t.TempDir(), "G")
	if err := errors.Join(os.WriteFile(other, []byte("other"), 0o600), os.Rename(other, name)); err != nil {
		t.Fatal(err)
	}
	if _, err := closed.read(nil, 0); !errors.Is(err, input.ErrFile) || !strings.Contains(err.Error(), "it is another file than the one that was opened") {
		t.Errorf("error %v, want ErrFile", err)
	}
	if n := mostOpen(); n < 16 || n > 1<<17 {
		t.Errorf("%d files stay open", n)
	}
}
