package convert_test

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

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/input/idx"
	"ringtrain/input/realdata"
	"ringtrain/input/synth"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

func open(t testing.TB, s convert.Spec) input.Dataset {
	t.Helper()
	d, err := convert.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// same verifies that two data sets have the same records, bit for bit.
func same(t testing.TB, a, b input.Dataset) {
	t.Helper()
	if a.Facts().Records != b.Facts().Records || a.Facts().Features != b.Facts().Features {
		t.Fatalf("%d records of %d features, want %d of %d", a.Facts().Records, a.Facts().Features, b.Facts().Records, b.Facts().Features)
	}
	var x, y input.Batch
	for i := range a.Facts().Records {
		x.Reset()
		y.Reset()
		if err := errors.Join(a.Append(&x, i), b.Append(&y, i)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(x.Y, y.Y) || !slices.Equal(x.X.Dense.Data, y.X.Dense.Data) ||
			!slices.Equal(x.X.Bags.Slot, y.X.Bags.Slot) || !slices.Equal(x.X.Bags.Weights, y.X.Bags.Weights) || x.X.Rows() != y.X.Rows() {
			t.Fatalf("record %d is %+v, want %+v", i, x, y)
		}
	}
}

// TestMake verifies that drawn files have the records of input.synthetic.
func TestMake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	tests := []struct {
		kind  string
		names string
		specs []convert.Spec
		want  []input.Dataset
	}{
		{"linear", "linear.tfrecords",
			[]convert.Spec{{Origin: convert.Origin{Format: "tfrecord", Files: []string{"linear.tfrecords"}}, Dense: true}},
			[]input.Dataset{synth.Linear(3)}},
		{"clicks", "clicks_train.tfrecords clicks_test.tfrecords",
			[]convert.Spec{{Origin: convert.Origin{Format: "tfrecord", Files: []string{"clicks_train.tfrecords"}}}, {Origin: convert.Origin{Format: "tfrecord", Files: []string{"clicks_test.tfrecords"}}}},
			[]input.Dataset{synth.Clicks(3, synth.ClicksTrain, synth.Train), synth.Clicks(3, synth.ClicksEval, synth.Eval)}},
		{"digits", "train-images-idx3-ubyte.gz train-labels-idx1-ubyte.gz t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz",
			[]convert.Spec{{Origin: convert.Origin{Format: "idx", Images: "train-images-idx3-ubyte.gz", Labels: "train-labels-idx1-ubyte.gz"}}, {Origin: convert.Origin{Format: "idx", Images: "t10k-images-idx3-ubyte.gz", Labels: "t10k-labels-idx1-ubyte.gz"}}},
			[]input.Dataset{synth.Digits(3, synth.DigitsTrain, synth.Train), synth.Digits(3, synth.DigitsEval, synth.Eval)}},
	}
	for _, tt := range tests {
		t.Run("kind="+tt.kind, func(t *testing.T) {
			files, err := convert.Make(tt.kind, 3, 0, dir)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, name := range strings.Fields(tt.names) {
				want = append(want, filepath.Join(dir, name))
			}
			if !slices.Equal(files, want) {
				t.Fatalf("files %q, want %q", files, want)
			}
			for i, s := range tt.specs {
				for k, name := range s.Files {
					s.Files[k] = filepath.Join(dir, name)
				}
				if s.Images != "" {
					s.Images, s.Labels = filepath.Join(dir, s.Images), filepath.Join(dir, s.Labels)
				}
				same(t, open(t, s), tt.want[i])
			}
			last := files[len(files)-1]
			before, _ := os.ReadFile(last)
			for _, name := range files[:len(files)-1] {
				os.Remove(name)
			}
			if _, err := convert.Make(tt.kind, 4, 0, dir); exitcode.Of(err) != exitcode.CannotCreate || !strings.Contains(err.Error(), last) {
				t.Errorf("error %v, want that %s exists", err, last)
			}
			if after, _ := os.ReadFile(last); !bytes.Equal(before, after) {
				t.Error("the file that existed has changed")
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) > 1 && slices.Contains(left, files[0]) {
				t.Error("files were written beside the one that existed")
			}
		})
	}
	if _, err := convert.Make("cats", 1, 0, dir); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("unknown kind: %v", err)
	}
	if _, err := convert.Make("linear", 1, 0, filepath.Join(dir, "linear.tfrecords", "x")); exitcode.Of(err) != exitcode.CannotCreate {
		t.Errorf("folder below a file: %v (%d)", err, exitcode.Of(err))
	}
}

// TestRoundTripA8A verifies that text converted to records and back has the same bytes,
// with other ids, names and compression in between, and that the first 100 records equal
// those of TensorFlow.
func TestRoundTripA8A(t *testing.T) {
	dir := t.TempDir()
	theirs := filepath.Join(dir, "a8a")
	lines := strings.SplitAfter(realdata.Inflated(t, filepath.Join("..", "testdata", "a8a", "a8a_test.libsvm.gz")), "\n")
	if err := os.WriteFile(theirs, []byte(strings.Join(lines, "")), 0o666); err != nil {
		t.Fatal(err)
	}
	text := convert.Spec{Origin: convert.Origin{Format: "libsvm", Files: []string{theirs}}}
	records := convert.Spec{Origin: convert.Origin{Format: "tfrecord", Files: []string{dir + "/r.gz"}, Label: "y", IDs: "i", Values: "v"}}
	again := convert.Spec{Origin: convert.Origin{Format: "libsvm", Files: []string{dir + "/t"}, Base: 1}}
	based := convert.Spec{Origin: convert.Origin{Format: "libsvm", Files: []string{dir + "/t"}, Base: 1}}
	back := convert.Spec{Origin: convert.Origin{Format: "tfrecord", Files: []string{dir + "/r2.gz"}, Label: "y", IDs: "i", Values: "v"}}
	final := convert.Spec{Origin: convert.Origin{Format: "libsvm", Files: []string{dir + "/t2"}}}
	for _, pair := range [][2]convert.Spec{{text, records}, {records, again}, {based, back}, {back, final}} {
		if err := convert.Convert(t.Context(), pair[0], pair[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, files := range [][2]string{{theirs, final.Files[0]}, {records.Files[0], back.Files[0]}} {
		a, err := os.ReadFile(files[0])
		b, err2 := os.ReadFile(files[1])
		if err != nil || err2 != nil || !bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b)) {
			t.Errorf("%s and %s differ, errors %v, %v", files[0], files[1], err, err2)
		}
	}

	few := filepath.Join(dir, "a8a.100")
	if err := os.WriteFile(few, []byte(strings.Join(lines[:100], "")), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{"int64-label", "float-label", "oct2016"} {
		wrote := filepath.Join("..", "testdata", "a8a", "a8a_test.100."+label+".tfrecords")
		same(t, open(t, convert.Spec{Origin: convert.Origin{Format: "libsvm", Files: []string{few}}}), open(t, convert.Spec{Origin: convert.Origin{Format: "tfrecord", Files: []string{wrote}}}))
	}
}

// TestImagesToRecords verifies that pixels and fractional labels survive the conversion
// into records.
func TestImagesToRecords(t *testing.T) {
	dir := t.TempDir()
	pixels := make([]byte, 6*50)
	for i := range pixels {
		pixels[i] = byte(i)
	}
	src := convert.Spec{Origin: convert.Origin{Format: "idx", Images: dir + "/i", Labels: dir + "/l"}}
	if err := errors.Join(idx.WriteImages(src.Images, false, pixels, 2, 3), idx.WriteLabels(src.Labels, false, make([]byte, 50))); err != nil {
		t.Fatal(err)
	}
	dst := convert.Spec{Origin: convert.Origin{Format: "tfrecord", Files: []string{dir + "/r"}}}
	if err := convert.Convert(t.Context(), src, dst); err != nil {
		t.Fatal(err)
	}
	dst.Dense = true
	same(t, open(t, dst), open(t, src))

	os.WriteFile(dir+"/s", []byte("0.5 1:1\n1 2:-0.25\n"), 0o666)
	src = convert.Spec{Origin: convert.Origin{Format: "libsvm", Files: []string{dir + "/s"}}}
	dst = convert.Spec{Origin: convert.Origin{Format: "tfrecord", Files: []string{dir + "/r"}}, Overwrite: true}
	if err := convert.Convert(t.Context(), src, dst); err != nil {
		t.Fatal(err)
	}
	same(t, open(t, dst), open(t, src))
}

// TestRefusals verifies that wrong requests are refused and leave no file.
func TestRefusals(t *testing.T) {
	all := convert.FormatName("").Takes()
	dir := t.TempDir()
	os.WriteFile(dir+"/good", []byte("1 1:1\n"), 0o666)
	os.WriteFile(dir+"/bad", []byte("1 1:1\nx\n"), 0o666)
	os.WriteFile(dir+"/there", []byte("precious"), 0o666)
	idx.WriteImages(dir+"/i", false, []byte{1, 2}, 1, 2)
	idx.WriteLabels(dir+"/l", false, []byte{1})
	text := func(name string) convert.Spec {
		return convert.Spec{Origin: convert.Origin{Format: "libsvm", Files: []string{dir + "/" + name}}}
	}
	images := convert.Spec{Origin: convert.Origin{Format: "idx", Images: dir + "/i", Labels: dir + "/l"}}
	out := convert.Spec{Origin: convert.Origin{Format: "tfrecord", Files: []string{dir + "/out"}}}
	with := func(s convert.Spec, change func(*convert.Spec)) convert.Spec { change(&s); return s }
	tests := []struct {
		name     string
		src, dst convert.Spec
		err      string
		code     int
	}{
		{"csv", convert.Spec{Origin: convert.Origin{Format: "csv", Files: []string{"x"}}}, out, "input: format csv wants input.columns, which a job file has", exitcode.Usage},
		{"avro", convert.Spec{Origin: convert.Origin{Format: "avro"}}, out, `input: format is "avro", want one of ` + all, exitcode.Usage},
		{"format", convert.Spec{}, out, `input: format is "", want one of ` + all, exitcode.Usage},
		{"no files", convert.Spec{Origin: convert.Origin{Format: "libsvm"}}, out, "input: files is empty, want at least one file", exitcode.Usage},
		{"files of images", convert.Spec{Origin: convert.Origin{Format: "idx", Files: []string{"x"}}}, out, "input: images is empty, want the file of images", exitcode.Usage},
		{"missing", text("nowhere"), out, "input: open DIR/nowhere: no such file or directory", exitcode.NoInput},
		{"bad", text("bad"), out, `libsvm: DIR/bad:2: record 1 at byte 6: label is "x", want a number`, exitcode.BadData},
		{"features", with(images, func(s *convert.Spec) { s.Features = 3 }), out, "DIR/i: images have 2 pixels, want 3", exitcode.BadData},
		{"exists", text("good"), text("there"), "output DIR/there: file already exists", exitcode.CannotCreate},
		{"folder", text("good"), text("no/where"), "output DIR/no/where: no such file or directory", exitcode.CannotCreate},
		{"dense to libsvm", images, text("out"), "input: the records are dense, want sparse ones to write libsvm", exitcode.Usage},
		{"to idx", text("good"), images, `input: cannot write format "idx", want one of images, tfrecord, libsvm`, exitcode.Usage},
		{"two outputs", text("good"), convert.Spec{Origin: convert.Origin{Format: "libsvm", Files: []string{"a", "b"}}}, "input: 2 files to write, want one", exitcode.Usage},
		{"compression", text("good"), with(out, func(s *convert.Spec) { s.Compression = "zlib" }), `input: compression is "zlib", want auto: a file to write is gzip if its name ends in .gz`, exitcode.Usage},
		{"base", text("good"), with(out, func(s *convert.Spec) { s.Base = -1 }), "input: base is -1, want 0 or more", exitcode.Usage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := convert.Convert(t.Context(), tt.src, tt.dst)
			if err == nil {
				t.Fatal("no error")
			}
			if got := strings.ReplaceAll(err.Error(), dir, "DIR"); got != tt.err || exitcode.Of(err) != tt.code {
				t.Errorf("error %q (%d), want %q (%d)", got, exitcode.Of(err), tt.err, tt.code)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := convert.Convert(ctx, text("good"), out); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of a context that has ended", err)
	}
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"bad", "good", "i", "l", "there"}; !reflect.DeepEqual(left, want) {
		t.Errorf("folder holds %q, want %q", left, want)
	}
	if got, _ := os.ReadFile(dir + "/there"); string(got) != "precious" {
		t.Error("the file that existed has changed")
	}
}

// TestCat verifies that Cat prints the numbers of training.
func TestCat(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(dir+"/s", []byte("1 1:0.1 7:1e20\n-1\n0 3:16777216\n"), 0o666)
	idx.WriteImages(dir+"/i", false, []byte{0, 255, 51, 1}, 1, 2)
	idx.WriteLabels(dir+"/l", false, []byte{3, 4})
	text := convert.Spec{Origin: convert.Origin{Format: "libsvm", Files: []string{dir + "/s"}}}
	tests := []struct {
		name    string
		spec    convert.Spec
		from, n int
		want    string
	}{
		{"sparse", text, 0, -1, `{"record":0,"label":1,"ids":[1,7],"values":[0.1,1e+20]}` + "\n" + `{"record":1,"label":-1,"ids":[],"values":[]}` + "\n" + `{"record":2,"label":0,"ids":[3],"values":[1.6777216e+07]}` + "\n"},
		{"part", text, 1, 1, `{"record":1,"label":-1,"ids":[],"values":[]}` + "\n"},
		{"none", text, 3, 9, ""},
		{"dense", convert.Spec{Origin: convert.Origin{Format: "idx", Images: dir + "/i", Labels: dir + "/l"}}, 1, 5, `{"record":1,"label":4,"features":[0.2,0.003921569]}` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := convert.Cat(t.Context(), &out, tt.spec, tt.from, tt.n); err != nil || out.String() != tt.want {
				t.Errorf("printed %s, error %v, want %s", out.String(), err, tt.want)
			}
		})
	}
	err := convert.Cat(t.Context(), &bytes.Buffer{}, text, 4, 1)
	if want := "input: first record is 4, want one in [0, 3]"; fmt.Sprint(err) != want || exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v, want %s", err, want)
	}
	if err := convert.Cat(t.Context(), full{}, text, 0, -1); exitcode.Of(err) != exitcode.IO {
		t.Errorf("error %v of a full disk", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestConvertWeights verifies that a record with a weight is an error that names it: no format that
// is written holds weights. Nothing is written then.
func TestConvertWeights(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.vw"), filepath.Join(dir, "a.tfrecords")
	if err := os.WriteFile(in, []byte("1 | a:1\n-1 2.5 | b:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := convert.Convert(t.Context(), convert.Spec{Origin: convert.Origin{Format: "vw", Files: []string{in}}, LabelRule: input.Labels{Binary: true}}, convert.Spec{Origin: convert.Origin{Format: "tfrecord", Files: []string{out}}})
	if err == nil || !strings.Contains(err.Error(), "record 1 has the weight 2.5, want 1") || exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was written")
	}
}

// TestAbsentLabels verifies that records without a label open for predictions only.
func TestAbsentLabels(t *testing.T) {
	dir := t.TempDir()
	images := filepath.Join(dir, "images")
	if err := idx.WriteImages(images, false, []byte{0, 255, 51, 102}, 1, 2); err != nil {
		t.Fatal(err)
	}
	records := filepath.Join(dir, "r.tfrecord")
	f, err := os.Create(records)
	if err != nil {
		t.Fatal(err)
	}
	e := tfrecord.Encoder{Label: "other"}
	if err := tfrecord.NewWriter(f).Write(e.AppendDense(nil, 7, []float32{0.2, 0.4})); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, s := range []convert.Spec{
		{Origin: convert.Origin{Format: "idx", Images: images}, Dense: true, Features: 2},
		{Origin: convert.Origin{Format: "tfrecord", Files: []string{records}}, Dense: true, Features: 2},
	} {
		t.Run("format="+string(s.Format), func(t *testing.T) {
			var b input.Batch
			d, err := convert.Open(t.Context(), s)
			if err == nil {
				err = d.Append(&b, 0)
			}
			if err == nil {
				t.Error("records without labels were read as if they had some")
			}
			s.LabelRule.Absent = true
			if d, err = convert.Open(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			b.Reset()
			if err := d.Append(&b, d.Facts().Records-1); err != nil {
				t.Fatal(err)
			}
			if b.Y[0] != 0 || !slices.Equal(b.X.Dense.Data, []float32{0.2, 0.4}) {
				t.Errorf("label %g and features %v, want 0 and 0.2, 0.4", b.Y[0], b.X.Dense.Data)
			}
		})
	}
}
