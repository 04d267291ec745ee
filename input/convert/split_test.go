package convert

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/cache"
	"ringtrain/input/column"
)

// TestSplitInEachForm verifies that a split by a column holds out the same records in CSV, in a cache of it, in
// compressed CSV and in the cache of that.
func TestSplitInEachForm(t *testing.T) {
	const n = 3000
	dir, folder := t.TempDir(), t.TempDir()
	share := 0.2
	split := input.Split{Share: &share, Test: &share, By: "who"}
	want := split.Parts(n)
	var text strings.Builder
	text.WriteString("y,x,city,who\n")
	for i := range n {
		who := fmt.Sprintf("\"customer, %d\"", i%97)
		if i%50 == 0 {
			who = ""
		}
		want.PutCell(i, []byte(strings.Trim(who, "\"")))
		fmt.Fprintf(&text, "%d,%d,c%d,%s\n", i%2, i, i%7, who)
	}
	plain, packed := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv.gz")
	if err := os.WriteFile(plain, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(packed)
	if err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(f)
	if _, err := w.Write([]byte(text.String())); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, file, cache string
		cached            bool
	}{
		{"csv", plain, CacheOff, false},
		{"csv.gz", packed, CacheOff, false},
		{"csv with a cache behind it", plain, folder, false},
		{"the cache of csv", plain, folder, true},
		{"csv.gz with a cache behind it", packed, folder, false},
		{"the cache of csv.gz", packed, folder, true},
	} {
		p, err := column.Compile([]column.Column{
			{Label: &column.LabelOptions{Names: []string{"y"}}},
			{Numeric: &column.NumericOptions{Names: []string{"x"}, Standardize: true}},
			{Categorical: &column.CategoricalOptions{Names: []string{"city"}, Vocabulary: "auto"}},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := Spec{Origin: Origin{Format: "csv", Files: []string{tt.file}, Header: true}, Columns: p, Learn: true, Split: split, Cache: tt.cache, LabelRule: input.Labels{Binary: true}}
		d, err := Open(t.Context(), s)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if _, cached := d.(*cache.Set); cached != tt.cached {
			t.Errorf("%s: the records are of a %T", tt.name, d)
		}
		parts := d.Facts().Parts
		for i := range n {
			for _, in := range []input.Part{input.Training, input.Validation, input.Test} {
				if parts.Has(i, in) != want.Has(i, in) {
					t.Fatalf("%s: record %d is in another part", tt.name, i)
				}
			}
		}
		if parts.Without() != want.Without() || want.Without() != n/50 {
			t.Errorf("%s: %d records without a cell, want %d", tt.name, parts.Without(), n/50)
		}
		if whole := d.Facts().Caching; whole != nil {
			<-whole
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
