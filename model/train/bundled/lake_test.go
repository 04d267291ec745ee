package bundled

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

// typed is a row of Parquet.
type typed struct {
	X    *float64 `parquet:"x,optional"`
	X2   bool     `parquet:"x2"`
	Y    float32  `parquet:"y"`
	More []string `parquet:"more,list"`
}

// TestPredictLake verifies that a column of the model which a folder names is one of the records in it.
func TestPredictLake(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for _, folder := range []string{"x=2/z=9", "x=4/z=9"} {
		name := filepath.Join(dir, folder, "a.csv")
		names = append(names, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x2\n7\n8\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := predict(t, Options{Bundle: examples, Signature: "regress_x_to_y"}, Files{Names: names}, &out); err != nil || out.String() != "record,prediction\n0,3\n1,3\n2,4\n3,4\n" {
		t.Errorf("%s, error %v", &out, err)
	}
}

// TestParquet verifies predictions and metrics of the records of Parquet files, in which a boolean is a number where the
// model takes one, and that a record without a value that the model needs is an error with its number.
func TestParquet(t *testing.T) {
	file := func(name string, x ...float64) string {
		var rows []typed
		for i := range x {
			rows = append(rows, typed{X: &x[i], X2: i > 0, Y: float32(x[i]/2 + 2)})
		}
		if len(rows) > 2 {
			rows[2].X = nil
		}
		var out bytes.Buffer
		if err := parquet.Write(&out, rows); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	o := Options{Bundle: examples, Signature: "regress_x_to_y", Label: "y"}
	good := file("good", 1, 2)
	var out bytes.Buffer
	if err := predict(t, o, Files{Names: []string{good, good}}, &out); err != nil || out.String() != "record,prediction\n0,2.5\n1,3\n2,2.5\n3,3\n" {
		t.Errorf("%s, error %v", &out, err)
	}
	err := predict(t, o, Files{Names: []string{file("bad", 1, 2, 3)}}, &out)
	if exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "bad: record 2: has no x") {
		t.Errorf("error %v (%d), want record 2", err, exitcode.Of(err))
	}
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if m, err := b.Evaluate(t.Context(), Files{Names: []string{good}}); err != nil || *m.RMSE != 0 {
		t.Errorf("metrics %+v, error %v, want no difference", m, err)
	}
}

// TestExamplesInFolders verifies that a column of the model which a folder names is one of the tf.Examples and JSON lines in
// it, and that a record which has the column, too, is refused with its number.
func TestExamplesInFolders(t *testing.T) {
	in := func(folder, content string) string {
		name := filepath.Join(t.TempDir(), folder, "records")
		err := os.MkdirAll(filepath.Dir(name), 0o777)
		if err == nil {
			err = os.WriteFile(name, []byte(content), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	var file bytes.Buffer
	if err := tfrecord.NewWriter(&file).Write(nil); err != nil { // a tf.Example without features
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, folder, content string
		want                  string // the predictions, or the end of the error
	}{
		{"examples", "x=2", records(t, 4), "names of its folders, want it in one of them"},
		{"examples of others", "x2=2", records(t, 4), "record,prediction\n0,4\n"},
		{"examples without it", "x=2", file.String(), "record,prediction\n0,3\n"},
		{"lines of others", "x2=2", "{\"x\":4}\n", "record,prediction\n0,4\n"},
		{"lines that have it", "x=2", "{\"x\":1}\n", "line 1: column x is in the file and in the names of its folders, want it in one of them"},
		{"no number", "x=a", file.String(), "record 0: x is \"a\", want a number"},
	} {
		var out bytes.Buffer
		err := predict(t, Options{Bundle: examples, Signature: "regress_x_to_y"}, Files{Names: []string{in(tt.folder, tt.content)}}, &out)
		if got := out.String(); err == nil && got != tt.want || err != nil && (exitcode.Of(err) != exitcode.BadData || !strings.HasSuffix(err.Error(), tt.want)) {
			t.Errorf("%s: %q, error %v, want %q", tt.name, got, err, tt.want)
		}
	}
}
