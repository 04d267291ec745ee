package parquet

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go"

	"ringtrain/ring/exitcode"
)

// TestWriter verifies that another reader, and this one, read what is written: names in their order, types, texts of any
// bytes, and several row groups.
func TestWriter(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, []Field{{"z", Text}, {"record", Integer}, {"score_a,b", Float}})
	var want [][]string
	long := string(bytes.Repeat([]byte("ab"), 4<<20))
	for i := range 5 {
		row := []string{fmt.Sprint("\xffé", i), fmt.Sprint(-i), fmt.Sprintf("%.2f", 0.25+float64(i))}
		if i%2 == 1 {
			row[0] = long
		}
		want = append(want, row)
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := NewWriter(io.Discard, []Field{{"n", Integer}}).Write([]string{"1.5"}); exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v, want one of the cell 1.5 of an integer", err)
	}
	name := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(name, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := textsOf(t, name, "z", "record", "score_a,b"); !reflect.DeepEqual(got, want) {
		t.Errorf("%d records, want %d", len(got), len(want))
	}
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	const schema = "message schema {\n\trequired binary z (STRING);\n\trequired int64 record (INT(64,true));\n\trequired double score_a,b;\n}"
	if got := f.Schema().String(); got != schema || len(f.RowGroups()) != 2 || f.NumRows() != 5 {
		t.Errorf("%s of %d records in %d groups, want %s", got, f.NumRows(), len(f.RowGroups()), schema)
	}
	rows := parquet.NewReader(bytes.NewReader(out.Bytes()))
	defer rows.Close()
	read := make([]parquet.Row, 6)
	n, _ := rows.ReadRows(read)
	for i, row := range read[:n] {
		if got := []string{row[0].String(), row[1].String(), row[2].String()}; !reflect.DeepEqual(got, want[i]) {
			t.Errorf("record %d is %.100q, want %.100q", i, got, want[i])
		}
	}
}
