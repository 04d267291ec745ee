package events

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readAll returns the events of a file and the error after them.
func readAll(t testing.TB, name string) ([]Event, error) {
	t.Helper()
	r, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []Event
	for {
		e, err := r.Next()
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
}

// TestGolden verifies that the Reader reads both forms of scalars from a file of
// TensorBoard's own writer, and omits values of other kinds.
func TestGolden(t *testing.T) {
	all, err := readAll(t, filepath.Join("testdata", "tensorboard.tfevents"))
	want := []string{
		"{1.5 0 false brain.Event:2 []}",
		"{2.5 3 true  []}",
		"{3.5 3 false  [{loss 0.25} {nan NaN} {zero 0}]}",
		"{4.5 4 false  [{loss 0.125} {rate 0.1}]}",
		"{5.5 5 false  []}",
	}
	var got []string
	for _, e := range all {
		got = append(got, fmt.Sprint(e))
	}
	if err != io.EOF || !slices.Equal(got, want) {
		t.Errorf("error %v, events\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// FuzzReader verifies that no file makes a Reader panic or loop forever.
func FuzzReader(f *testing.F) {
	golden, err := os.ReadFile(filepath.Join("testdata", "tensorboard.tfevents"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add(golden[:len(golden)-3])
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "fuzz.tfevents")
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		all, err := readAll(t, name)
		if err == nil || len(all) > len(data)/16 {
			t.Errorf("%d events of %d bytes, error %v", len(all), len(data), err)
		}
		if err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) && !strings.Contains(err.Error(), name) {
			t.Errorf("error %v does not name the file", err)
		}
	})
}
