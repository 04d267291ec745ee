package libsvm

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
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
		if fields {
			sameBags(t, content, base, d)
		}
		once := written(t, d, base)
		again, err := parse(t, once, Config{Base: base})
		if err != nil {
			t.Fatalf("%q became %q: %v", content, once, err)
		}
		if twice := written(t, again, base); twice != once || again.Facts().Features != d.Facts().Features {
			t.Errorf("%q became %q", once, twice)
		}
	})
}

func parse(t testing.TB, content string, c Config) (*lines.Set, error) {
	name := filepath.Join(t.TempDir(), "F")
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return Open(t.Context(), []string{name}, c)
}

// written returns all records of d as lines again.
func written(t testing.TB, d *lines.Set, base int) string {
	var out bytes.Buffer
	w := NewWriter(&out, base)
	for i := range d.Facts().Records {
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

// sameBags fails unless the reader with a bag for each field has the pairs of the reader with one bag,
// ordered by field, or refuses a field.
func sameBags(t *testing.T, content string, base int, one *lines.Set) {
	t.Helper()
	const bags = 3
	d, err := parse(t, content, Config{Base: base, Fields: true, Bags: bags})
	if err != nil {
		if !strings.Contains(err.Error(), "field is ") {
			t.Errorf("with bags: %v", err)
		}
		return
	}
	for i := range d.Facts().Records {
		var a, b input.Batch
		if err := one.Append(&a, i); err != nil {
			t.Fatal(err)
		}
		if err := d.Append(&b, i); err != nil {
			if !strings.Contains(err.Error(), "field is ") {
				t.Errorf("with bags: %v", err)
			}
			continue
		}
		sum := func(b *input.Batch) (n uint64) {
			for _, id := range b.X.Bags.Slot {
				n += uint64(id)
			}
			return n
		}
		if x := &b.X.Bags; x.Examples() != 1 || int(x.Start[bags]) != len(x.Slot) || len(x.Slot) != len(a.X.Bags.Slot) || sum(&a) != sum(&b) {
			t.Errorf("record %d has the bags %v of %v, want %v", i, x.Start, x.Slot, a.X.Bags.Slot)
		}
	}
}
