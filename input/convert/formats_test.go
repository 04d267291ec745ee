package convert

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parquet-go/parquet-go"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/idx"
	"ringtrain/input/tfrecord"
	"ringtrain/model/keys"
	"ringtrain/ring/exitcode"
)

// An example writes n records of a format below a folder, the files compressed if their names end so, and
// returns how they are read.
type example func(t testing.TB, dir, end string, n int) Spec

// examples has one of each format of the table. A new format wants one here.
func examples() map[string]example {
	return map[string]example{
		"idx": func(t testing.TB, dir, end string, n int) Spec {
			images, labels := filepath.Join(dir, "images"+end), filepath.Join(dir, "labels"+end)
			if err := errors.Join(idx.WriteImages(images, false, make([]byte, n*64), 8, 8), idx.WriteLabels(labels, false, make([]byte, n))); err != nil {
				t.Fatal(err)
			}
			return Spec{Origin: Origin{Images: images, Labels: labels}}
		},
		"images": func(t testing.TB, dir, _ string, n int) Spec {
			var picture bytes.Buffer
			if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
				t.Fatal(err)
			}
			for i := range max(n/1000, 2) {
				save(t, picture.Bytes(), dir, "classes", fmt.Sprint(i%2), fmt.Sprintf("%d.png", i))
			}
			return Spec{Origin: Origin{Images: filepath.Join(dir, "classes")}, Shape: []int{2, 2, 1}}
		},
		"tfrecord": func(t testing.TB, dir, end string, n int) Spec {
			var file bytes.Buffer
			w, e := tfrecord.NewWriter(&file), tfrecord.Encoder{Label: "y", Values: "a"}
			for i := range n {
				if err := w.Write(e.AppendDense(nil, float32(i%2), []float32{float32(i)})); err != nil {
					t.Fatal(err)
				}
			}
			return Spec{
				Origin: Origin{Files: []string{save(t, file.Bytes(), dir, "r"+end)}}, Learn: true,
				Columns: planOf(t, column.Column{Numeric: &column.NumericOptions{Names: []string{"a"}, Standardize: true}}),
			}
		},
		"libsvm": linesOf(func(i int) string { return fmt.Sprintf("%d 3:1 %d:0.5", i%2, 4+i%5) }, nil),
		"libffm": linesOf(func(i int) string { return fmt.Sprintf("%d 0:3:1 1:%d:0.5", i%2, 4+i%5) }, nil),
		"vw":     linesOf(func(i int) string { return fmt.Sprintf("%d |f a%d b:0.5", 2*(i%2)-1, i%7) }, nil),
		"csv": linesOf(func(i int) string { return fmt.Sprintf("%d,%d,c%d", i%2, i, i%9) }, func(t testing.TB) *column.Plan {
			return planOf(t,
				column.Column{Numeric: &column.NumericOptions{Names: []string{"a"}, Standardize: true}},
				column.Column{Categorical: &column.CategoricalOptions{Names: []string{"c"}, Vocabulary: "auto"}})
		}),
		"parquet": func(t testing.TB, dir, _ string, n int) Spec {
			type record struct {
				Y int64   `parquet:"y"`
				A float64 `parquet:"a"`
				C string  `parquet:"c,dict"`
			}
			rows := make([]record, n)
			for i := range rows {
				rows[i] = record{int64(i % 2), float64(i), fmt.Sprintf("c%d", i%9)}
			}
			var file bytes.Buffer
			if err := parquet.Write(&file, rows); err != nil {
				t.Fatal(err)
			}
			return Spec{
				Origin: Origin{Files: []string{save(t, file.Bytes(), dir, "r")}}, Learn: true,
				Columns: planOf(t,
					column.Column{Numeric: &column.NumericOptions{Names: []string{"a"}, Standardize: true}},
					column.Column{Categorical: &column.CategoricalOptions{Names: []string{"c"}, Vocabulary: "auto"}}),
			}
		},
		"criteo": linesOf(func(i int) string {
			return fmt.Sprintf("%d", i%2) + strings.Repeat(fmt.Sprintf("\t%d", i), 13) + strings.Repeat("\tab", 26)
		}, func(t testing.TB) *column.Plan {
			p, err := column.Compile(criteoColumns(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}),
	}
}

// linesOf returns the example of a format of text, with its columns, if it has some.
func linesOf(line func(i int) string, columns func(t testing.TB) *column.Plan) example {
	return func(t testing.TB, dir, end string, n int) Spec {
		var text bytes.Buffer
		for i := range n {
			fmt.Fprintln(&text, line(i))
		}
		s := Spec{Origin: Origin{Files: []string{save(t, text.Bytes(), dir, "r"+end)}}}
		if columns != nil {
			s.Columns, s.Learn = columns(t), true
		}
		return s
	}
}

// planOf compiles columns behind a label.
func planOf(t testing.TB, columns ...column.Column) *column.Plan {
	p, err := column.Compile(append([]column.Column{{Label: &column.LabelOptions{Names: []string{"y"}}}}, columns...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// save writes a file, compressed if its name ends so.
func save(t testing.TB, content []byte, names ...string) string {
	name := filepath.Join(names...)
	if strings.HasSuffix(name, ".gz") {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		w.Write(content)
		w.Close()
		content = packed.Bytes()
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, content, 0o666)); err != nil {
		t.Fatal(err)
	}
	return name
}

// exampleOf returns n records of a format.
func exampleOf(t *testing.T, f Format, end string, n int) Spec {
	write := examples()[f.Name]
	if write == nil {
		t.Fatalf("no example of format %s: examples in formats_test.go wants one", f.Name)
	}
	s := write(t, t.TempDir(), end, n)
	s.Format, s.Dense = FormatName(f.Name), f.Dense
	return s
}

// wantEach verifies that a test has tried each format of which is is true.
func wantEach(t *testing.T, tried map[FormatName]bool, is func(Format) bool) {
	t.Helper()
	for _, name := range Names(is) {
		if !tried[FormatName(name)] {
			t.Errorf("no case is of format %s", name)
		}
	}
}

// TestEachFormat verifies of each format of the table that its records are read, that its keys are those of
// a job and no others are taken, that its options are in the key of its cache, that a cache and a file that is
// written again have the same records, and that its page names its keys.
func TestEachFormat(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "data.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range examples() {
		if !slices.Contains(Names(nil), name) {
			t.Errorf("format %s has an example, and is not in the table", name)
		}
	}
	for _, f := range Formats() {
		t.Run("format="+f.Name, func(t *testing.T) {
			s := exampleOf(t, f, "", 3000)
			want := recordsOf(t, s)
			if n := len(want.Y); n < 2 || (want.X.Dense.Cols > 0) == (want.X.Bags.Fields > 0) && !f.HasColumns() {
				t.Errorf("%d records of %d columns and %d fields", n, want.X.Dense.Cols, want.X.Bags.Fields)
			}
			row := rowOf(page, "| `"+f.Name+"` |")
			for _, k := range keys.Of(reflect.ValueOf(Origin{})) {
				changed := s
				keys.Set(reflect.ValueOf(&changed.Origin).Elem().FieldByIndex(fieldOf(k.Name)), map[bool]string{true: "1", false: "tab"}[k.Value.CanInt() || k.Value.Kind() == reflect.Bool])
				_, err := Open(t.Context(), changed)
				switch {
				case k.Name == "format":
				case !f.Has(k.Name) && (exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), k.Name+" is ")):
					t.Errorf("with key %s: error %v", k.Name, err)
				case f.Has(k.Name) != strings.Contains(row, "`"+k.Name+"`"):
					t.Errorf("its row in docs/data.md is %q, key %s is taken: %t", row, k.Name, f.Has(k.Name))
				case slices.Contains(f.Keys, k.Name) && changed.key() == s.key():
					t.Errorf("its cache does not depend on %s", k.Name)
				}
			}
			for _, r := range f.Reads {
				without := s
				without.setNames(r.Key, nil)
				if exitcode.Of(second(Open(t.Context(), without))) != exitcode.Usage || len(without.Check("k")) != 1 {
					t.Errorf("without key %s: %v", r.Key, without.Check("k"))
				}
			}
			for i, part := range f.Parts {
				if got := FormatOfFile("clicks" + part); i == 0 && got != s.Format {
					t.Errorf("a file clicks%s is of format %s", part, got)
				}
			}
			if f.IsCached() {
				s.Cache = t.TempDir()
				if _, _, err := MakeCache(t.Context(), s); err != nil {
					t.Fatal(err)
				}
				sameRecords(t, recordsOf(t, s), want)
				if f.IsText() {
					wantPiped(t, s, "")
				}
			} else if _, _, err := MakeCache(t.Context(), s); exitcode.Of(err) != exitcode.Usage {
				t.Errorf("a cache of a binary format: %v", err)
			}
		})
	}
}

// fieldOf returns the index of the field of a key.
func fieldOf(key string) []int {
	f, _ := reflect.TypeFor[Origin]().FieldByNameFunc(func(name string) bool {
		f, _ := reflect.TypeFor[Origin]().FieldByName(name)
		return f.Tag.Get("yaml") == key
	})
	return f.Index
}

func second(_ input.Dataset, err error) error { return err }

// rowOf returns the line of a page that begins so, "" for none.
func rowOf(page []byte, begin string) string {
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, begin) {
			return line
		}
	}
	return ""
}

// recordsOf returns all records in one batch.
func recordsOf(t *testing.T, s Spec) *input.Batch {
	t.Helper()
	d, err := Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return all(t, d)
}

func sameRecords(t *testing.T, got, want *input.Batch) {
	t.Helper()
	if !reflect.DeepEqual(got.X, want.X) || !slices.Equal(got.Y, want.Y) {
		t.Errorf("other records: %v, want %v", got.Y, want.Y)
	}
}

// looks is a context that ends when it is looked at for the last of some times.
type looks struct {
	context.Context
	left *atomic.Int64
	end  context.CancelCauseFunc
}

var errStopped = exitcode.With(exitcode.Terminated, errors.New("stopped by a signal"))

func looksOf(t *testing.T, n int64) looks {
	ctx, end := context.WithCancelCause(t.Context())
	l := looks{ctx, new(atomic.Int64), end}
	l.left.Store(n)
	return l
}

func (l looks) Err() error {
	if l.left.Add(-1) < 0 {
		l.end(errStopped)
	}
	return l.Context.Err()
}

// TestEachFormatStops ends the context of each format's reader while it opens plain and compressed files,
// makes a cache, or writes them in another format: at one of the moments at which the reader looks at it. It
// verifies that the cause is returned each time, and that a reader looks more often at larger files.
func TestEachFormatStops(t *testing.T) {
	const enough = 1 << 40
	for _, f := range Formats() {
		works := map[string]func(ctx context.Context, s Spec) error{
			"open": func(ctx context.Context, s Spec) error {
				d, err := Open(ctx, s)
				if err == nil {
					d.Close()
				}
				return err
			},
		}
		if f.IsCached() {
			works["cache"] = func(ctx context.Context, s Spec) error {
				s.Cache = t.TempDir()
				_, _, err := MakeCache(ctx, s)
				return err
			}
		}
		if f.IsPlain() {
			works["convert"] = func(ctx context.Context, s Spec) error {
				s.Columns = nil
				if s.Format == "tfrecord" {
					s.Label, s.Values, s.Dense = "y", "a", true
				}
				return Convert(ctx, s, Spec{Origin: Origin{Format: "tfrecord", Files: []string{filepath.Join(t.TempDir(), "to")}}})
			}
		}
		for name, work := range works {
			for _, end := range []string{"", ".gz"} {
				t.Run("format="+f.Name+"/work="+name+end, func(t *testing.T) {
					var few Spec
					var times [2]int64
					for i, n := range []int{4_000, 40_000} {
						if name == "convert" {
							n /= 10
						}
						s, whole := exampleOf(t, f, end, n), looksOf(t, enough)
						if err := work(whole, s); err != nil {
							t.Fatal(err)
						}
						times[i] = enough - whole.left.Load()
						if i == 0 {
							few = s
						}
					}
					if times[1] <= times[0] {
						t.Errorf("looks %d times, and %d times at fewer records", times[1], times[0])
					}
					for at := int64(0); at < times[0]; at += max(times[0]/6, 1) {
						if err := work(looksOf(t, at), few); !errors.Is(err, errStopped) || exitcode.Of(err) != exitcode.Terminated {
							t.Errorf("stopped at look %d of %d: error %v, want %v", at, times[0], err, errStopped)
						}
					}
				})
			}
		}
	}
}

// isFlag reports whether n names a flag of a command, such as --csv, or reads it.
func isFlag(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		name, ok := n.Key.(*ast.Ident)
		return ok && name.Name == "Name"
	case *ast.CallExpr:
		switch call := n.Fun.(type) {
		case *ast.SelectorExpr:
			return call.Sel.Name == "Bool"
		case *ast.Ident:
			return call.Name == "option"
		}
	}
	return false
}

// TestFormatsStandOnce verifies that the names of formats stand in the table alone: no other product file
// compares a text with one, or lists several.
func TestFormatsStandOnce(t *testing.T) {
	root := filepath.Join("..", "..")
	allowed := map[string]int{ // by file: literals that are names of something else, or of one format on purpose
		"cmd/ringtrain/bench.go": 1, "cmd/ringtrain/options.go": 1, // an example, a default
	}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch top, _, _ := strings.Cut(filepath.ToSlash(name), "/"); {
		case err != nil:
			return err
		case e.IsDir() && top == "input" && slices.Contains(Names(nil), e.Name()): // a format's own package
			return filepath.SkipDir
		case e.IsDir() && (name == "bench" || name == "export" || strings.HasPrefix(e.Name(), ".") && name != "."):
			return filepath.SkipDir
		case e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "input/convert/format.go":
			return nil
		case top != "input" && top != "model" && top != "cmd":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		found := 0
		ast.Inspect(file, func(n ast.Node) bool {
			if isFlag(n) {
				return false
			}
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", |", r) })
				named := slices.DeleteFunc(words, func(w string) bool { return !slices.Contains(Names(nil), w) || w == "images" })
				if len(named) > 1 || len(named) == 1 && text == named[0] {
					found++
				}
			}
			return true
		})
		if found > allowed[name] {
			t.Errorf("%s: %d texts name formats, want %d: ask convert.Formats", name, found, allowed[name])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
