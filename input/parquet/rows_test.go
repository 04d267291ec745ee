package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/ring/exitcode"
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
	rows, err := OpenRows(t.Context(), []string{name}, input.Folders{}, input.Limits{}, func(string) Need { return Texts })
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

// TestGaps verifies that a missing number of a list keeps its place, so that values stay those of their ids, and that
// a missing id or text has none.
func TestGaps(t *testing.T) {
	type record struct {
		List []*float64 `parquet:"list,list"`
	}
	one, two := 1.0, 2.0
	f, err := OpenFile(write(t, []record{{[]*float64{&one, nil, &two}}, {nil}, {[]*float64{nil}}, {[]*float64{&two}}}), input.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for form, want := range map[column.Form]string{
		column.AsValues: "[1 NaN 2] [] [NaN] [2]", column.AsDouble: "[1 NaN 2] [] [] [2]", column.AsText: "1.02.0   2.0",
	} {
		table := newTable([]*File{f}, []wanted{{name: "list", form: form, in: []*Column{f.column("list")}}}, 0)
		held, err := table.loaded.Get(0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for k := range table.count {
			var c column.Cell
			held.Data[0].fill(&c, k)
			switch form {
			case column.AsValues:
				got = append(got, fmt.Sprint(c.Values))
			case column.AsDouble:
				got = append(got, fmt.Sprint(c.Doubles))
			default:
				got = append(got, string(bytes.Join(c.Texts, nil))+string(c.Text))
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("form=%d: %s, want %s", form, got, want)
		}
	}
}

// TestTwins verifies that a column whose name is there twice, as a column and as the field of a struct, too, is not read
// without a word.
func TestTwins(t *testing.T) {
	type point struct {
		X int64 `parquet:"x"`
	}
	type record struct {
		P point `parquet:"p"`
		Q int64 `parquet:"p.x"`
		Y int64 `parquet:"y"`
	}
	f, err := OpenFile(write(t, []record{{point{1}, 2, 3}}), input.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	w := wanted{name: "p.x"}
	if err := w.find(t.Context(), []*File{f}, input.Folders{}, "input.columns"); exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "column p.x is there twice") {
		t.Errorf("error %v, want one of bad data that names p.x", err)
	}
	w = wanted{name: "y"}
	if err := w.find(t.Context(), []*File{f}, input.Folders{}, "input.columns"); err != nil {
		t.Error(err)
	}
}

// TestNeeds verifies which columns of files that differ are rows: numbers of several types where people or numbers want
// them, and of those that are only shown none that cannot be read in all files.
func TestNeeds(t *testing.T) {
	type first struct {
		A int64
		B bool
		C int64
		D int64
		E string
	}
	type second struct {
		A float64
		B int64
		C string
		E string
	}
	files := []string{write(t, []first{{1, true, 1, 1, "e"}}), write(t, []second{{1.5, 2, "c", "f"}})}
	cases := []struct {
		need          Need
		names, unread string
		fault         string
	}{
		{need: Shown, names: "A E", unread: "B C D"},
		{need: Numbers, fault: "column C is text, want integer"},
		{need: Texts, fault: "column A is float, want integer"},
	}
	for _, tt := range cases {
		rows, err := OpenRows(t.Context(), files, input.Folders{}, input.Limits{}, func(string) Need { return tt.need })
		if err != nil {
			if exitcode.Of(err) != exitcode.BadData || tt.fault == "" || !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("need=%d: error %v, want one of bad data: %q", tt.need, err, tt.fault)
			}
			continue
		}
		unread := errors.Join(rows.Unread...).Error()
		for _, name := range strings.Fields(tt.unread) {
			if !strings.Contains(unread, " column "+name) {
				t.Errorf("need=%d: unread %s, want column %s among them", tt.need, unread, name)
			}
		}
		if got := strings.Join(rows.Names, " "); got != tt.names || tt.fault != "" || len(rows.Unread) != 3 {
			t.Errorf("need=%d: columns %s, unread %s, want %s, and %s unread", tt.need, got, unread, tt.names, tt.unread)
		}
	}
}

// TestAhead verifies that blocks before one that is asked for are kept, so that readers side by side do not have the
// cursors go back.
func TestAhead(t *testing.T) {
	type record struct {
		A int64 `parquet:"a"`
	}
	rows := make([]record, 10*blockCells)
	for i := range rows {
		rows[i].A = int64(i)
	}
	r, err := OpenRows(t.Context(), []string{write(t, rows)}, input.Folders{}, input.Limits{}, func(string) Need { return Texts })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, at := range []int{7, 2, 0, 9, 8} {
		first := at * r.table.size
		err := r.Each(t.Context(), first, first+1, func(row *Row) error {
			if got, want := string(row.Cells[0].Text), fmt.Sprint(first); got != want {
				t.Errorf("record %d is %s", first, got)
			}
			return nil
		})
		if next := int(r.table.next.Load()); err != nil || next != max(8, at+1) && next != 10 {
			t.Errorf("block %d: the cursors are at block %d, error %v", at, next, err)
		}
	}
}

// TestInterrupted verifies that an interrupt ends the search for a timestamp that is not at midnight, which reads all of a file.
func TestInterrupted(t *testing.T) {
	type record struct {
		When int64 `parquet:"when,timestamp(microsecond:local)"`
	}
	ctx, stop := context.WithCancelCause(t.Context())
	interrupt := errors.New("stopped by a signal")
	stop(interrupt)
	rows, err := OpenRows(ctx, []string{write(t, make([]record, 3))}, input.Folders{}, input.Limits{}, func(string) Need { return Texts })
	if !errors.Is(err, interrupt) {
		t.Errorf("rows %v, error %v, want the interrupt", rows, err)
	}
}
