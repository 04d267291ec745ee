package convert

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/cache"
	"ringtrain/input/column"
	"ringtrain/model/graph"
)

// clicksSpec is CSV with numbers, ids, weights and statistics to learn, with a cache
// folder.
func clicksSpec(t *testing.T, path, dir string, hash int) Spec {
	t.Helper()
	p, err := column.Compile([]column.Column{
		{Label: &column.LabelOptions{Names: []string{"y"}}},
		{Key: &column.KeyOptions{Names: []string{"k"}}},
		{Weight: &column.WeightOptions{Names: []string{"w"}}},
		{Numeric: &column.NumericOptions{Names: []string{"n"}, Standardize: true}},
		{Categorical: &column.CategoricalOptions{Names: []string{"c"}, Vocabulary: "auto", MinCount: 2}},
		{Categorical: &column.CategoricalOptions{Names: []string{"d"}, Hash: hash}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Origin: Origin{Format: "csv", Files: []string{path}, Header: true}, Columns: p, Learn: true, Cache: dir, LabelRule: input.Labels{Binary: true}}
}

// all returns the records of d in one batch.
func all(t *testing.T, d input.Dataset) *input.Batch {
	t.Helper()
	b := &input.Batch{WantKeys: true}
	for i := range d.Facts().Records {
		if err := d.Append(b, i); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// TestCachedColumns verifies that the cache of CSV has numbers, bags, weights, keys
// and statistics, that other columns use another cache, and that the number of features is that
// of the columns.
func TestCachedColumns(t *testing.T) {
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "a.csv")
	var text strings.Builder
	text.WriteString("k,y,w,n,c,d\n")
	for i := range 5000 {
		fmt.Fprintf(&text, "r%d,%d,%d,%d,c%d,\"d,%d\"\n", i, i%2, i%3, i, i%4000, i%11)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var want *input.Batch
	var learnt graph.Columns
	for _, from := range []string{"text", "cache"} {
		s := clicksSpec(t, path, dir, 100)
		d, err := Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if _, cached := d.(*cache.Set); cached != (from == "cache") {
			t.Fatalf("from=%s: records are a %T", from, d)
		}
		got := all(t, d)
		if want == nil {
			want, learnt = got, s.Columns.Columns()
		}
		if !reflect.DeepEqual(got.Y, want.Y) || !reflect.DeepEqual(got.Keys, want.Keys) || got.Keys[4999] != "r4999" || !reflect.DeepEqual(got.Importance, want.Importance) || len(got.Importance) != 5000 ||
			!reflect.DeepEqual(got.X.Dense.Data, want.X.Dense.Data) || !reflect.DeepEqual(got.X.Bags.Slot, want.X.Bags.Slot) ||
			!reflect.DeepEqual(got.X.Bags.Start, want.X.Bags.Start) || !reflect.DeepEqual(got.X.Bags.Weights, want.X.Bags.Weights) {
			t.Errorf("from=%s: other records", from)
		}
		if now := s.Columns.Columns(); !reflect.DeepEqual(now, learnt) || len(now.Bags[0].Vocabulary) != 1000 || d.Facts().Features != 1101 {
			t.Errorf("from=%s: learnt %d texts, %d features; numbers %+v", from, len(now.Bags[0].Vocabulary), d.Facts().Features, now.Dense)
		}
		if whole := d.Facts().Caching; whole != nil {
			<-whole
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	name, _, err := MakeCache(context.Background(), clicksSpec(t, path, dir, 100))
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	forged := bytes.Replace(content, []byte(`"features":1101`), []byte(`"features":9101`), 1)
	description := forged[24:][:binary.LittleEndian.Uint32(forged[12:])]
	binary.LittleEndian.PutUint32(forged[16:], crc32.Checksum(description, crc32.MakeTable(crc32.Castagnoli)))
	if err := os.WriteFile(name, forged, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), clicksSpec(t, path, dir, 100)); err == nil || !strings.Contains(err.Error(), "has 9101 features, want 1101; remove the file") {
		t.Errorf("error %v of a cache with other features than its columns", err)
	}
	other, records, err := MakeCache(context.Background(), clicksSpec(t, path, dir, 101))
	if err != nil || records != 5000 || other == name {
		t.Errorf("cache %s of other columns has %d records, error %v; the first is %s", other, records, err, name)
	}
}

// TestFindCache verifies that FindCache reads a cache that exists, and makes none.
func TestFindCache(t *testing.T) {
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte("k,y,w,n,c,d\nr0,1,1,2,x,y\nr1,0,1,3,x,y\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, made := range []bool{false, true} {
		s := clicksSpec(t, path, dir, 10)
		s.FindCache = true
		d, err := Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if _, cached := d.(*cache.Set); cached != made {
			t.Errorf("made %t: records are a %T", made, d)
		}
		if got := all(t, d).Keys; !reflect.DeepEqual(got, []string{"r0", "r1"}) {
			t.Errorf("made %t: keys %q", made, got)
		}
		d.Close()
		if left, _ := os.ReadDir(dir); !made && len(left) > 0 {
			t.Errorf("left %v", left)
		}
		if _, _, err := MakeCache(t.Context(), clicksSpec(t, path, dir, 10)); err != nil {
			t.Fatal(err)
		}
	}
}
