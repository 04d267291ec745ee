package parquet

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"ringtrain/input"
)

// write writes rows to a file.
func write[T any](t testing.TB, rows []T, options ...parquet.WriterOption) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.parquet")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := parquet.Write(f, rows, options...); err != nil {
		t.Fatal(err)
	}
	return name
}

// textsOf returns the cells of columns of a file, with a bar between the texts of a list.
func textsOf(t testing.TB, name string, columns ...string) (all [][]string) {
	t.Helper()
	rows, err := OpenRows([]string{name}, input.Folders{}, input.Limits{}, func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	err = rows.Each(t.Context(), 0, rows.Records(), func(r *Row) error {
		if r.Number != len(all) || r.Record != len(all) {
			t.Errorf("record %d, %d of the file, want %d", r.Number, r.Record, len(all))
		}
		var row []string
		for _, name := range columns {
			c := r.Cells[slices.Index(rows.Names, name)]
			text := string(c.Text)
			for i, p := range c.Texts {
				if i > 0 {
					text += "|"
				}
				text += string(p)
			}
			row = append(row, text)
		}
		all = append(all, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEach verifies the cells of records in their order, with missing ones, lists and fields of structs.
func TestEach(t *testing.T) {
	type place struct {
		City string `parquet:"city"`
	}
	type record struct {
		A    int64    `parquet:"a"`
		B    *float64 `parquet:"b,optional"`
		Tags []string `parquet:"tags,list"`
		Nums []int32  `parquet:"nums"`
		At   place    `parquet:"at"`
	}
	half := 0.5
	name := write(t, []record{
		{1, &half, []string{"x", "y"}, []int32{1}, place{"Bern"}},
		{-2, nil, nil, []int32{2, 3}, place{""}},
		{3, &half, []string{"z"}, nil, place{"Zug"}},
	})
	want := [][]string{{"1", "0.5", "x|y", "1", "Bern"}, {"-2", "", "", "2|3", ""}, {"3", "0.5", "z", "", "Zug"}}
	if got := textsOf(t, name, "a", "b", "tags", "nums", "at.city"); !reflect.DeepEqual(got, want) {
		t.Errorf("cells %q, want %q", got, want)
	}
}
