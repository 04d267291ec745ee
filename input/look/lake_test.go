package look

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"google.golang.org/protobuf/encoding/protowire"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

// typedRow is a row of Parquet.
type typedRow struct {
	A float64 `parquet:"a"`
	T string  `parquet:"t"`
	Y int64   `parquet:"y"`
}

// lake writes rows of a, t and y into folders of three days, of which one is missing, in a format: csv, csv without a
// header, tfrecord or parquet; where that may be, empty files are among the others. It returns the folder, and the same rows as one CSV with the column day.
func lake(t *testing.T, format string) (dir, flat string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "lake")
	var all strings.Builder
	fmt.Fprintln(&all, "a,t,y,day")
	for at, day := range []string{"2026-01-01", "2026-01-02", "__HIVE_DEFAULT_PARTITION__"} {
		var text bytes.Buffer
		var typed []typedRow
		records := tfrecord.NewWriter(&text)
		if format == "csv" {
			fmt.Fprintln(&text, "a,t,y")
		}
		for i := range 40 {
			i += 40 * at
			cells := []string{fmt.Sprint(i*7%50) + ".5", fmt.Sprint("w", i*i%5), fmt.Sprint(i / 3 % 2)}
			fmt.Fprintln(&all, strings.Join(append(cells, strings.ReplaceAll(day, "__HIVE_DEFAULT_PARTITION__", "")), ","))
			if format == "parquet" {
				a, _ := strconv.ParseFloat(cells[0], 64)
				typed = append(typed, typedRow{a, cells[1], int64(cells[2][0] - '0')})
				continue
			}
			if format != "tfrecord" {
				fmt.Fprintln(&text, strings.Join(cells, ","))
				continue
			}
			var example []byte
			for k, name := range []string{"a", "t", "y"} {
				example = append(example, feature(name, []string{cells[k]})...)
			}
			if err := records.Write(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), example)); err != nil {
				t.Fatal(err)
			}
		}
		if format == "parquet" {
			if err := parquet.Write(&text, typed); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, "day="+day)
		if err := os.MkdirAll(path, 0o777); err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{"part-0": text.Bytes(), "empty": nil, "header": []byte("a,t,y\n")}
		if format != "csv" {
			delete(files, "header")
		}
		if format == "parquet" {
			delete(files, "empty")
		}
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(path, name), content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir, write(t, "flat.csv", all.String())
}

// TestLookLake verifies that the columns of a lake are those of the same rows as one file, for init, for a check, and
// for Cat.
func TestLookLake(t *testing.T) {
	for _, format := range []string{"csv", "no header", "tfrecord", "parquet"} {
		t.Run(format, func(t *testing.T) {
			dir, flat := lake(t, format)
			label := "y"
			if format == "no header" {
				label = "c3"
			}
			table, err := Look(t.Context(), Options{Names: []string{dir}, Label: label})
			if err != nil {
				t.Fatal(err)
			}
			want, err := Look(t.Context(), Options{Names: []string{flat}})
			if err != nil {
				t.Fatal(err)
			}
			if len(table.Columns) != 4 || table.Records != 120 || table.Columns[3].Name != "day" || table.Origin.Files[0] != dir {
				t.Fatalf("columns %+v of %d records in %s", table.Columns, table.Records, table.Origin.Files)
			}
			for i, c := range table.Columns {
				if w := want.Columns[i]; c.Becomes != w.Becomes || c.Why != w.Why || c.MissingCells() != w.MissingCells() {
					t.Errorf("%s becomes %s (%s), %d missing, want %s (%s), %d", c.Name, c.Becomes, c.Why, c.MissingCells(), w.Becomes, w.Why, w.MissingCells())
				}
			}
			spec := func(format string, names ...string) *convert.Spec {
				plan, err := column.Compile([]column.Column{
					{Numeric: &column.NumericOptions{Names: []string{"a"}}},
					{Time: &column.TimeOptions{Names: []string{"day"}}},
					{Categorical: &column.CategoricalOptions{Names: []string{"t"}, Hash: 10}},
					{Label: &column.LabelOptions{Names: []string{"y"}}},
				}, nil)
				if err != nil {
					t.Fatal(err)
				}
				o := convert.Origin{Format: "csv", Files: names, Header: format == "csv"}
				if format == "tfrecord" || format == "parquet" {
					o.Format = convert.FormatName(format)
				}
				if o, err = o.Find(nil, nil); err != nil {
					t.Fatal(err)
				}
				return &convert.Spec{Origin: o, Columns: plan, LabelRule: input.Labels{Binary: true}, Split: input.Split{By: "day", From: "2026-01-02"}}
			}
			told := func(s *convert.Spec) string {
				r, err := Check(t.Context(), s, nil)
				if err != nil {
					t.Fatal(err)
				}
				var b strings.Builder
				for _, name := range []string{"a", "t", "y", "day"} {
					for _, c := range r.Columns {
						if c.Name == name {
							fmt.Fprintln(&b, c.Name, c.Records, c.Missing, c.Distinct, c.Values)
						}
					}
				}
				for _, f := range r.Findings {
					fmt.Fprintln(&b, f.Column, f.What, f.Records)
				}
				return b.String()
			}
			if got, want := told(spec(format, dir)), told(spec("csv", flat)); got != want || !strings.Contains(want, "day 80") {
				t.Errorf("a check tells\n%s, want\n%s", got, want)
			}
			if format == "tfrecord" {
				return
			}
			var got, lines strings.Builder
			if err := Cat(t.Context(), &got, *spec(format, dir), 35, 10); err != nil {
				t.Fatal(err)
			}
			if err := Cat(t.Context(), &lines, *spec("csv", flat), 35, 10); err != nil {
				t.Fatal(err)
			}
			if text := strings.NewReplacer("c1", "a", "c2", "t", "c3", "y").Replace(got.String()); text != lines.String() {
				t.Errorf("cat prints\n%s, want\n%s", text, lines.String())
			}
		})
	}
}

// TestLookLakeTwice verifies that a column of file and folder ends init and a check with its name and the file.
func TestLookLakeTwice(t *testing.T) {
	dir := t.TempDir()
	for _, day := range []string{"1", "2"} {
		path := filepath.Join(dir, "t="+day)
		if err := os.Mkdir(path, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "f.csv"), []byte("a,t,y\n"+soundRows(30, 0)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Look(t.Context(), Options{Names: []string{dir}})
	_, checked := Check(t.Context(), func() *convert.Spec {
		s := checkOf(t, "f.csv", "")
		s.Files = []string{filepath.Join(dir, "t=1/f.csv"), filepath.Join(dir, "t=2/f.csv")}
		return s
	}(), nil)
	want := filepath.Join(dir, "t=1/f.csv") + ": column t is in the file and in the names of its folders, want it in one of them"
	for _, err := range []error{err, checked} {
		if err == nil || err.Error() != want || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("error %v (%d), want %s", err, exitcode.Of(err), want)
		}
	}
}

// TestLookParquet verifies what init says of a file without a column beside the label, of one without a record, and of a
// column that cannot be read, which it leaves out.
func TestLookParquet(t *testing.T) {
	type one struct {
		Y int64 `parquet:"y"`
	}
	type two struct {
		Y int64            `parquet:"y"`
		M map[string]int64 `parquet:"m"`
		A float64          `parquet:"a"`
	}
	file := func(fill func(out *bytes.Buffer) error) Options {
		var out bytes.Buffer
		if err := fill(&out); err != nil {
			t.Fatal(err)
		}
		return Options{Names: []string{write(t, "f.parquet", out.String())}}
	}
	var notices []string
	for want, o := range map[string]Options{
		"f.parquet has 1 column, want a label and one column more": file(func(out *bytes.Buffer) error { return parquet.Write(out, []one{{1}, {0}}) }),
		"f.parquet has no record":                                  file(func(out *bytes.Buffer) error { return parquet.Write(out, []typedRow{}) }),
	} {
		if _, err := Look(t.Context(), o); exitcode.Of(err) != exitcode.BadData || !strings.HasSuffix(fmt.Sprint(err), want) {
			t.Errorf("error %v (%d), want %s", err, exitcode.Of(err), want)
		}
	}
	o := file(func(out *bytes.Buffer) error {
		return parquet.Write(out, []two{{1, map[string]int64{"k": 1}, 2}, {0, nil, 3}, {1, nil, 2}, {0, nil, 5}})
	})
	o.Notice = func(line string) { notices = append(notices, line) }
	table, err := Look(t.Context(), o)
	if err != nil || len(table.Columns) != 2 || len(notices) != 1 || !strings.Contains(notices[0], "column m") || !strings.HasSuffix(notices[0], "it is left out") {
		t.Errorf("%+v, notices %q, error %v", table, notices, err)
	}
	s := convert.Spec{Origin: convert.Origin{Format: "parquet", Files: o.Names}, Notice: o.Notice}
	if err := Cat(t.Context(), &bytes.Buffer{}, s, 0, 1); err != nil || len(notices) != 2 || notices[1] != notices[0] {
		t.Errorf("cat: notices %q, error %v", notices, err)
	}
}

// TestOfFiles verifies how files are read in the place of a job's records: as the job says, or as their beginning says
// where that is another format with columns; text without a header in the place of another format is an error.
func TestOfFiles(t *testing.T) {
	var table bytes.Buffer
	if err := parquet.Write(&table, []typedRow{{1, "a", 0}}); err != nil {
		t.Fatal(err)
	}
	typed, examples := write(t, "p", table.String()), writeExamples(t, 3, func(int) map[string]any { return map[string]any{"a": 1} })
	text, bare, empty := write(t, "c", "a;t;y\n1; b ;0\n2;c;1\n"), write(t, "b", "1,b,0\n2,c,1\n"), write(t, "e", "")
	for _, tt := range []struct {
		format, file string
		header       bool
		want         string // format, header, separator; or the end of the error
	}{
		{"csv", text, true, "csv true "},
		{"csv", bare, false, "csv false "},
		{"csv", typed, true, "parquet false "},
		{"csv", examples, false, "tfrecord false "},
		{"parquet", typed, false, "parquet false "},
		{"parquet", text, false, "csv true ;"},
		{"parquet", empty, false, "parquet false "},
		{"tfrecord", typed, false, "parquet false "},
		{"tfrecord", text, false, "csv true ;"},
		{"parquet", bare, false, "is no parquet and has no header, want format parquet, or CSV with a header"},
	} {
		o, err := OfFiles(t.Context(), convert.Origin{Format: convert.FormatName(tt.format), Files: []string{empty, tt.file}, Header: tt.header}, input.Limits{})
		got := fmt.Sprint(o.Format, " ", o.Header, " ", o.Separator)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasSuffix(got, tt.want) || len(o.Files) != 2 || o.Trim {
			t.Errorf("%s in the place of %s is %s, want %s", filepath.Base(tt.file), tt.format, got, tt.want)
		}
	}
}
