package convert

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"google.golang.org/protobuf/proto"

	"ringtrain/export/tfpb"
	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

// A lakeRow has the cells of a record by column.
type lakeRow map[string]string

// lakeFolders are the folders of a lake, in bytewise order, and what they say.
var lakeFolders = []struct {
	folder string
	says   lakeRow
}{
	{"day=2026-01-01/region=a%2Fb", lakeRow{"day": "2026-01-01", "region": "a/b"}},
	{"day=2026-01-01/region=c", lakeRow{"day": "2026-01-01", "region": "c"}},
	{"day=2026-01-02/region=", lakeRow{"day": "2026-01-02", "region": ""}},
	{"day=2026-01-10/region=__HIVE_DEFAULT_PARTITION__", lakeRow{"day": "2026-01-10", "region": ""}},
}

// lakeColumns are in the files of a lake.
var lakeColumns = []string{"k", "y", "n"}

// lakeRows returns n records for each folder.
func lakeRows(n int) (all [][]lakeRow) {
	for at, f := range lakeFolders {
		var rows []lakeRow
		for i := range n {
			i += at * n
			row := lakeRow{"k": fmt.Sprintf("r%d", i), "y": fmt.Sprint(i % 2), "n": fmt.Sprint(i % 17)}
			maps.Copy(row, f.says)
			rows = append(rows, row)
		}
		all = append(all, rows)
	}
	return all
}

// lakeCSV writes rows as CSV, with a header of the names, or without.
func lakeCSV(rows []lakeRow, names []string, header bool) []byte {
	var text strings.Builder
	if header {
		fmt.Fprintln(&text, strings.Join(names, ","))
	}
	for _, row := range rows {
		var cells []string
		for _, name := range names {
			cells = append(cells, row[name])
		}
		fmt.Fprintln(&text, strings.Join(cells, ","))
	}
	return []byte(text.String())
}

// lakeExamples writes rows as TFRecords of texts.
func lakeExamples(t testing.TB, rows []lakeRow, names []string) []byte {
	var out strings.Builder
	w := tfrecord.NewWriter(&out)
	for _, row := range rows {
		features := map[string]*tfpb.Feature{}
		for _, name := range names {
			features[name] = &tfpb.Feature{Kind: &tfpb.Feature_BytesList{BytesList: &tfpb.BytesList{Value: [][]byte{[]byte(row[name])}}}}
		}
		example, err := proto.Marshal(&tfpb.Example{Features: &tfpb.Features{Feature: features}})
		if err == nil {
			err = w.Write(example)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return []byte(out.String())
}

// lakeTyped is a row of Parquet.
type lakeTyped struct {
	K string  `parquet:"k"`
	Y bool    `parquet:"y"`
	N float64 `parquet:"n"`
}

// lakeWriters write the rows of a folder in each format of files with columns.
func lakeWriters(t testing.TB) map[string]func(rows []lakeRow, dir string) Origin {
	return map[string]func(rows []lakeRow, dir string) Origin{
		"header": func(rows []lakeRow, dir string) Origin {
			save(t, lakeCSV(rows, []string{"n", "k", "y"}, true), dir, "part-0.csv")
			return Origin{Format: "csv", Header: true}
		},
		"no header": func(rows []lakeRow, dir string) Origin {
			save(t, lakeCSV(rows, []string{"y", "k", "n"}, false), dir, "part-0.csv.gz")
			return Origin{Format: "csv"}
		},
		"parquet": func(rows []lakeRow, dir string) Origin {
			var typed []lakeTyped
			for _, row := range rows {
				y, _ := strconv.ParseBool(row["y"])
				n, _ := strconv.ParseFloat(row["n"], 64)
				typed = append(typed, lakeTyped{row["k"], y, n})
			}
			var out bytes.Buffer
			if err := parquet.Write(&out, typed); err != nil {
				t.Fatal(err)
			}
			save(t, out.Bytes(), dir, "part-0.parquet")
			return Origin{Format: "parquet"}
		},
		"tfrecord": func(rows []lakeRow, dir string) Origin {
			save(t, lakeExamples(t, rows, lakeColumns), dir, "part-0.tfrecord")
			return Origin{Format: "tfrecord"}
		},
	}
}

// TestLake verifies that the records of a lake are those of one file whose columns are those of the files and those
// of the folders, in each format, also from a cache, and that a split by a folder's column holds out the same ones.
func TestLake(t *testing.T) {
	split := input.Split{By: "day", From: "2026-01-02"}
	spec := func(o Origin, cache string) Spec {
		p := planOf(t,
			column.Column{Key: &column.KeyOptions{Names: []string{"k", "region"}}},
			column.Column{Numeric: &column.NumericOptions{Names: []string{"n"}, Standardize: true}},
			column.Column{Time: &column.TimeOptions{Names: []string{"day"}}},
			column.Column{Categorical: &column.CategoricalOptions{Names: []string{"region"}, Vocabulary: "auto"}},
		)
		return Spec{Origin: o, Columns: p, Learn: true, Split: split, Cache: cache, LabelRule: input.Labels{Binary: true}}
	}
	rows := lakeRows(3)
	flat := save(t, lakeCSV(slices.Concat(rows...), append(lakeColumns, "day", "region"), true), t.TempDir(), "flat.csv")
	read := func(s Spec) (records *input.Batch, trains []bool, manifest []string) {
		d, err := Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for i := range d.Facts().Records {
			trains = append(trains, d.Facts().Parts.Trains(i))
		}
		if c := d.Facts().Caching; c != nil {
			<-c
		}
		return all(t, d), trains, d.Facts().Manifest
	}
	want, trains, _ := read(spec(Origin{Format: "csv", Files: []string{flat}, Header: true}, CacheOff))
	if n := len(slices.DeleteFunc(slices.Clone(trains), func(trains bool) bool { return trains })); n != 6 {
		t.Fatalf("%d records are held out, want 6", n)
	}
	for name, write := range lakeWriters(t) {
		t.Run(name, func(t *testing.T) {
			dir, cache := filepath.Join(t.TempDir(), "above=1"), t.TempDir()
			var o Origin
			for i, f := range lakeFolders {
				o = write(rows[i], filepath.Join(dir, "lake", f.folder))
			}
			t.Chdir(dir)
			o.Files = []string{"lake"}
			o, err := o.Find(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			var manifest []string
			for range 2 { // the second time the cache of text is there
				got, held, files := read(spec(o, cache))
				if manifest == nil {
					manifest = files
				}
				if !slices.Equal(files, manifest) || strings.Contains(files[0], "above") {
					t.Errorf("the manifest is %q, want %q", files, manifest)
				}
				sameRecords(t, got, want)
				if !slices.Equal(got.Keys, want.Keys) || !slices.Equal(held, trains) {
					t.Errorf("keys %q, trained %v, want %q, %v", got.Keys, held, want.Keys, trains)
				}
			}
		})
	}
}

// TestLakeErrors verifies that a file that lacks the folder of another one, a column of file and folder, a folder that
// is there twice, and a file without a header that has a folder's column are errors with their names; none of them
// matters to a job that names no such column.
func TestLakeErrors(t *testing.T) {
	row := []lakeRow{{"k": "a", "y": "1", "n": "2", "day": "1"}}
	in := []string{"k", "y", "n"}
	for _, tt := range []struct {
		name  string
		files map[string][]byte
		o     Origin
		want  string
	}{
		{"without", map[string][]byte{"day=1/a": lakeCSV(row, in, true), "b": lakeCSV(row, in, true)}, Origin{Format: "csv", Header: true},
			"input: DIR/b is in no folder that names the column day, as DIR/day=1/a is"},
		{"twice", map[string][]byte{"day=1/day=2/a": lakeCSV(row, in, true)}, Origin{Format: "csv", Header: true},
			"input: the folders of DIR/day=1/day=2/a name the column day twice"},
		{"both", map[string][]byte{"day=1/a": lakeCSV(row, append(in, "day"), true)}, Origin{Format: "csv", Header: true},
			"csv: DIR/day=1/a: column day is in the file and in the names of its folders, want it in one of them"},
		{"both, no header", map[string][]byte{"day=1/a": lakeCSV(row, append(in, "day"), false)}, Origin{Format: "csv"},
			"csv: DIR/day=1/a:1: record 0 at byte 0: has 4 fields, want 3: folders name day"},
		{"neither", map[string][]byte{"dai=1/a": lakeCSV(row, in, true)}, Origin{Format: "csv", Header: true},
			`csv: DIR/dai=1/a: no column day, which input.columns names; the header has ["k" "y" "n"]`},
		{"both in TFRecords", map[string][]byte{"day=1/a": lakeExamples(t, row, append(in, "day"))}, Origin{Format: "tfrecord"},
			"tfrecord: DIR/day=1/a: record 0 at byte 0: column day is in the file and in the names of its folders, want it in one of them"},
		{"without in TFRecords", map[string][]byte{"day=1/a": lakeExamples(t, row, in), "b": lakeExamples(t, row, in)}, Origin{Format: "tfrecord"},
			"input: DIR/b is in no folder that names the column day, as DIR/day=1/a is"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range tt.files {
				save(t, content, dir, name)
			}
			tt.o.Files = []string{dir}
			o, err := tt.o.Find(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			numbers := column.Column{Numeric: &column.NumericOptions{Names: []string{"n"}}}
			key := column.Column{Key: &column.KeyOptions{Names: []string{"k"}}}
			s := Spec{Origin: o, Learn: true, LabelRule: input.Labels{Binary: true}, Cache: CacheOff}
			s.Columns = planOf(t, numbers, key, column.Column{Numeric: &column.NumericOptions{Names: []string{"day"}}})
			_, err = Open(t.Context(), s)
			if err == nil || strings.ReplaceAll(err.Error(), dir, "DIR") != tt.want || exitcode.Of(err) != exitcode.BadData {
				t.Errorf("error %v (%d), want %s", err, exitcode.Of(err), tt.want)
			}
			if !o.Header && o.Format == "csv" {
				return // all columns are named
			}
			s.Columns = planOf(t, numbers, key)
			if _, err := Open(t.Context(), s); err != nil {
				t.Errorf("error %v of a job that names no day", err)
			}
		})
	}
}

// TestLakeLabel verifies that folders may name the label, and that records to predict need no such folder.
func TestLakeLabel(t *testing.T) {
	for _, header := range []bool{true, false} {
		dir := t.TempDir()
		for _, y := range []string{"0", "1"} {
			save(t, lakeCSV([]lakeRow{{"n": "2"}, {"n": "3"}}, []string{"n"}, header), dir, "y="+y, "a.csv")
		}
		save(t, lakeCSV([]lakeRow{{"n": "2"}, {"n": "3"}}, []string{"n"}, header), dir, "z", "b.csv")
		numbers := column.Column{Numeric: &column.NumericOptions{Names: []string{"n"}}}
		read := func(absent bool, files ...string) []float32 {
			o, err := Origin{Format: "csv", Header: header, Files: files}.Find([]string{dir}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return recordsOf(t, Spec{Origin: o, Columns: planOf(t, numbers), Cache: CacheOff, LabelRule: input.Labels{Binary: true, Absent: absent}}).Y
		}
		if y := read(false, "y=*/*"); !slices.Equal(y, []float32{0, 0, 1, 1}) {
			t.Errorf("header %t: labels %v", header, y)
		}
		for _, files := range []string{"y=1", "z"} {
			if y := read(true, files); !slices.Equal(y, []float32{0, 0}) {
				t.Errorf("header %t: %s to predict has the labels %v", header, files, y)
			}
		}
	}
}
