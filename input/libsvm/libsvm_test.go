package libsvm_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"ringtrain/input"
	"ringtrain/input/libsvm"
	"ringtrain/input/realdata"
	"ringtrain/ring/exitcode"
)

func save(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// text writes all records of d as lines again.
func text(t testing.TB, d input.Dataset, base int) string {
	t.Helper()
	var out bytes.Buffer
	w := libsvm.NewWriter(&out, base)
	var b input.Batch
	for i := range d.Facts().Records {
		b.Reset()
		if err := d.Append(&b, i); err != nil {
			t.Fatal(err)
		}
		ids, values := b.X.Bags.Slot, b.X.Bags.Weights
		if err := w.Write(b.Y[0], ids, values); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// TestA8A verifies that the real file comes back byte for byte, plain and compressed.
func TestA8A(t *testing.T) {
	compressed := filepath.Join("..", "testdata", "a8a", "a8a_test.libsvm.gz")
	want := realdata.Inflated(t, compressed)
	for _, name := range []string{save(t, "a8a", want), compressed} {
		d, err := libsvm.Open(t.Context(), []string{name}, libsvm.Config{Labels: input.Labels{Binary: true}})
		if err != nil {
			t.Fatal(err)
		}
		if d.Facts().Records != 9865 || d.Facts().Features != 123 {
			t.Errorf("%s: %d records, %d features", name, d.Facts().Records, d.Facts().Features)
		}
		if got := text(t, d, 0); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s: the lines are not the same", name)
		}
	}
}

// TestLines verifies each kind of line that tools write.
func TestLines(t *testing.T) {
	tests := []struct {
		name, content string
		config        libsvm.Config
		want          string // base 0
		features      int
	}{
		{"plain", "1 3:0.5 7:2\n0 1:1\n", libsvm.Config{}, "1 3:0.5 7:2\n0 1:1\n", 8},
		{"base 1", "1 3:0.5 7:2\n0 1:1\n", libsvm.Config{Base: 1}, "1 2:0.5 6:2\n0 0:1\n", 7},
		{"features", "1 3:1\n", libsvm.Config{Features: 20}, "1 3:1\n", 20},
		{"signs", "+1 1:1\n-1 2:-1\n", libsvm.Config{Labels: input.Labels{Binary: true}}, "1 1:1\n0 2:-1\n", 3},
		{"comments", "# all\n\n1 1:1 # 2:x\n  \t\n0#\n", libsvm.Config{}, "1 1:1\n0\n", 2},
		{"qid", "2 qid:7 1:1\n", libsvm.Config{}, "2 1:1\n", 2},
		{"blanks", " 1\t3:1   4:2 \r\n0 1:1\r\n", libsvm.Config{}, "1 3:1 4:2\n0 1:1\n", 5},
		{"no last end", "1 3:1", libsvm.Config{}, "1 3:1\n", 4},
		{"descending", "1 9:1 3:1\n", libsvm.Config{}, "1 9:1 3:1\n", 10},
		{"numbers", "1e2 1:1e-3 2:16777217 3:.5\n", libsvm.Config{}, "100 1:0.001 2:1.6777216e+07 3:0.5\n", 4},
		{"long line", "1 " + strings.Repeat("1:1 ", 40000) + "2:1\n0 1:1\n", libsvm.Config{}, "1 " + strings.Repeat("1:1 ", 40000) + "2:1\n0 1:1\n", 3},
		{"empty", "", libsvm.Config{}, "", 0},
		{"fields", "1 0:3:0.5 12:7:2\n0 3:1:1e-1 # 4:5:6\n", libsvm.Config{Fields: true}, "1 3:0.5 7:2\n0 1:0.1\n", 8},
		{"fields, base 1", "1 0:3:0.5 999999999:7:2\n", libsvm.Config{Fields: true, Base: 1}, "1 2:0.5 6:2\n", 7},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := libsvm.Open(t.Context(), []string{save(t, "f", tt.content)}, tt.config)
			if err != nil {
				t.Fatal(err)
			}
			if got := text(t, d, 0); got != tt.want || d.Facts().Features != tt.features {
				t.Errorf("%d features, %.60q, want %d, %.60q", d.Facts().Features, got, tt.features, tt.want)
			}
		})
	}
}

// TestDense verifies that an absent index is 0, also in used memory.
func TestDense(t *testing.T) {
	d, err := libsvm.Open(t.Context(), []string{save(t, "f", "1 0:5 2:7\n2 1:3\n")}, libsvm.Config{Dense: true})
	if err != nil {
		t.Fatal(err)
	}
	var b input.Batch
	for range 2 {
		b.Reset()
		d.Append(&b, 1)
		d.Append(&b, 0)
		if !slices.Equal(b.X.Dense.Data, []float32{0, 3, 0, 5, 0, 7}) || b.X.Rows() != 2 || b.X.Dense.Cols != 3 {
			t.Errorf("rows are %+v", b.X.Dense)
		}
		for i := range b.X.Dense.Data {
			b.X.Dense.Data[i] = 99
		}
	}
}

// TestManifest verifies that the manifest has name, bytes and records of each file.
func TestManifest(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte("1 1:1\n0 2:1\n"))
	w.Close()
	files := []string{save(t, "a", "1 1:1\n"), save(t, "b.gz", packed.String())}
	d, err := libsvm.Open(t.Context(), files, libsvm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Facts().Manifest; len(got) != 2 || got[0] != "a 6 1" || !strings.HasPrefix(got[1], "b.gz ") || !strings.HasSuffix(got[1], " 2") {
		t.Errorf("manifest %q", got)
	}
}

// TestBadLines verifies that a wrong line is an error that names file, line and the form that is
// wanted.
func TestBadLines(t *testing.T) {
	tests := []struct {
		name, content string
		config        libsvm.Config
		err           string
	}{
		{"label", "1 1:1\nspam 2:1\n", libsvm.Config{}, `libsvm: F:2: record 1 at byte 6: label is "spam", want a number`},
		{"label cut off", "1:1\n", libsvm.Config{}, `libsvm: F:1: record 0 at byte 0: label is "1:1", want a number`},
		{"class", "10 1:1\n", libsvm.Config{Labels: input.Labels{Classes: 10}}, `libsvm: F:1: record 0 at byte 0: label is 10, want a class in [0, 10)`},
		{"index alone", "1 1:1 17\n", libsvm.Config{}, `libsvm: F:1: record 0 at byte 0: "17", want index:value`},
		{"word", "1 a:1\n", libsvm.Config{}, `libsvm: F:1: record 0 at byte 0: "a:1", want index:value`},
		{"late qid", "1 1:1 qid:3\n", libsvm.Config{}, `libsvm: F:1: record 0 at byte 0: "qid:3", want index:value`},
		{"value", "1 1:\n", libsvm.Config{}, `libsvm: F:1: record 0 at byte 0: "1:": value is "", want a finite float32`},
		{"infinite", "1 1:1e39\n", libsvm.Config{}, `libsvm: F:1: record 0 at byte 0: "1:1e39": value is "1e39", want a finite float32`},
		{"nan", "1 1:nan\n", libsvm.Config{}, `libsvm: F:1: record 0 at byte 0: "1:nan": value is "nan", want a finite float32`},
		{"Go's digits", "1 1:1_0\n", libsvm.Config{}, `libsvm: F:1: record 0 at byte 0: "1:1_0": value is "1_0", want a finite float32`},
		{"Go's label", "0x1p1 1:1\n", libsvm.Config{}, `libsvm: F:1: record 0 at byte 0: label is "0x1p1", want a number`},
		{"below the base", "1 5:1\n\n1 2:1\n1 0:1 3:1\n1 1:1\n", libsvm.Config{Base: 3}, `libsvm: F:3: record 1 at byte 7: index is 2, want 3 or more, as base says`},
		{"negative", "1 -1:1\n", libsvm.Config{}, `libsvm: F:1: record 0 at byte 0: index is -1, want 0 or more, as base says`},
		{"too large", "1 7:1\n", libsvm.Config{Base: 1, Features: 6}, `libsvm: F:1: record 0 at byte 0: index is 7, want one in [1, 7) for 6 features`},
		{"not too large", "1 7:1 8:1\n", libsvm.Config{Base: 2, Features: 6}, `libsvm: F:1: record 0 at byte 0: index is 8, want one in [2, 8) for 6 features`},
		{"huge", "1 4294967296:1\n", libsvm.Config{}, `libsvm: F:1: record 0 at byte 0: index is 4294967296, want one in [0, 67108864), as input.max_features says`},
		{"wider than 32 bits", "1\n1 1:1 4294967296:1\n", libsvm.Config{Features: 1 << 40}, `libsvm: F:2: record 1 at byte 2: index is 4294967296, want one in [0, 2147483647) for 1099511627776 features`},
		{"too wide to be dense", "1 1:1\n1 60000000:1 2:1\n", libsvm.Config{Dense: true}, `libsvm: F:2: record 1 at byte 6: index is 60000000, the largest of all: 2 records of 60000001 features, made dense, are more than 67108864 bytes; if that is right, give model.features`},
		{"no field", "1 3:1\n", libsvm.Config{Fields: true}, `libffm: F:1: record 0 at byte 0: "3:1", want field:index:value`},
		{"field alone", "1 0:1:1 3:\n", libsvm.Config{Fields: true}, `libffm: F:1: record 0 at byte 0: "3:", want field:index:value`},
		{"field is a word", "1 a:1:1\n", libsvm.Config{Fields: true}, `libffm: F:1: record 0 at byte 0: "a:1:1", want field:index:value`},
		{"field below 0", "1 -1:1:1\n", libsvm.Config{Fields: true}, `libffm: F:1: record 0 at byte 0: "-1:1:1", want field:index:value`},
		{"field too long", "1 1234567890:1:1\n", libsvm.Config{Fields: true}, `libffm: F:1: record 0 at byte 0: "1234567890:1:1", want field:index:value`},
		{"value behind a field", "1 0:1:x\n", libsvm.Config{Fields: true}, `libffm: F:1: record 0 at byte 0: "0:1:x": value is "x", want a finite float32`},
		{"no index behind fields", "1\n", libsvm.Config{Fields: true}, `libffm: no record of any file has an index:value`},
		{"all are bad", "1 0:1\n0 0:1\n", libsvm.Config{Base: 1, Tolerate: true}, `the first 2 records are all bad; the first of them: libsvm: F:1: record 0 at byte 0: index is 0, want 1 or more, as base says`},
		{"no index at all", "1\n0\n", libsvm.Config{}, `libsvm: no record of any file has an index:value`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name := save(t, "F", tt.content)
			_, err := libsvm.Open(t.Context(), []string{name}, tt.config)
			if err == nil {
				t.Fatal("no error")
			}
			if got := strings.ReplaceAll(err.Error(), filepath.Dir(name)+"/", ""); got != tt.err || exitcode.Of(err) != exitcode.BadData {
				t.Errorf("error %q (%d), want %q", got, exitcode.Of(err), tt.err)
			}
		})
	}
	if _, err := libsvm.Open(t.Context(), []string{"nowhere"}, libsvm.Config{}); exitcode.Of(err) != exitcode.NoInput {
		t.Errorf("missing file: %v (%d)", err, exitcode.Of(err))
	}
	_, err := libsvm.Open(t.Context(), nil, libsvm.Config{Base: -1})
	if want := "base is -1, want 0 or more"; err == nil || err.Error() != want || exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestAllocatesNothing verifies that reading allocates nothing.
func TestAllocatesNothing(t *testing.T) {
	name := save(t, "f", strings.Repeat("1 3:0.5 7:2\n0 1:1\n", 20))
	for _, dense := range []bool{false, true} {
		d, err := libsvm.Open(t.Context(), []string{name}, libsvm.Config{Dense: dense})
		if err != nil {
			t.Fatal(err)
		}
		var b input.Batch
		read := func() {
			b.Reset()
			for i := range d.Facts().Records {
				d.Append(&b, i)
			}
		}
		read()
		if got := testing.AllocsPerRun(100, read); got != 0 || len(b.Y) != 40 {
			t.Errorf("dense=%t: %g allocations a batch of %d records, want 0 for 40", dense, got, len(b.Y))
		}
	}
}

// TestWriteUneven verifies that a record with ids and values of different lengths panics.
func TestWriteUneven(t *testing.T) {
	for _, values := range [][]float32{nil, {1}, {1, 2, 3}} {
		func() {
			var out strings.Builder
			defer func() {
				if fault := recover(); fault != "libsvm: ids and values differ in length" || out.Len() > 0 {
					t.Errorf("%d values for 2 ids: panic %v and %q written, want that they differ, and nothing", len(values), fault, &out)
				}
			}()
			libsvm.NewWriter(&out, 0).Write(1, []uint32{1, 2}, values)
		}()
	}
}
