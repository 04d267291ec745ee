package libsvm

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"ringtrain/input"
	lines "ringtrain/input/text"
	"ringtrain/ring/exitcode"
)

// FuzzRead verifies that no text makes the reader panic, and that the reader returns the records
// that the writer wrote.
func FuzzRead(f *testing.F) {
	f.Add("1 3:0.5 7:2 # x\n-1 qid:2 1:1\n", 0, false)
	f.Add("+1 1:1e-40\n\n0", 1, false)
	f.Add("1 0:1\n1", 2, false)
	f.Add("1 0:3:0.5 12:7:2 # x\n-1 1:1:1\n", 0, true)
	f.Fuzz(func(t *testing.T, content string, base int, fields bool) {
		if base < 0 {
			return // refused by Open
		}
		d, err := parse(t, content, Config{Base: base, Fields: fields})
		if err != nil {
			if c := exitcode.Of(err); c != exitcode.BadData {
				t.Errorf("%v: code %d", err, c)
			}
			return
		}
		once := written(t, d, base)
		again, err := parse(t, once, Config{Base: base})
		if err != nil {
			t.Fatalf("%q became %q: %v", content, once, err)
		}
		if twice := written(t, again, base); twice != once || again.Features() != d.Features() {
			t.Errorf("%q became %q", once, twice)
		}
	})
}

func parse(t testing.TB, content string, c Config) (*lines.Set, error) {
	name := filepath.Join(t.TempDir(), "F")
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return Open([]string{name}, c)
}

// written returns all records of d as lines again.
func written(t testing.TB, d *lines.Set, base int) string {
	var out bytes.Buffer
	w := NewWriter(&out, base)
	for i := range d.Len() {
		var b input.Batch
		if err := d.Append(&b, i); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(b.Y[0], b.X.Bags.Slot, b.X.Bags.Weights); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}
