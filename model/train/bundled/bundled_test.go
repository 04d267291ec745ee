package bundled

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/ask"
	"ringtrain/export/tfpb"
	"ringtrain/input/tfrecord"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// The models: y = x/2 + 2 of tf.Examples, and of matrices.
const (
	examples = "../../../export/testdata/serving/saved_model_half_plus_two_2_versions"
	matrices = "../../../export/testdata/serving/matrix_half_plus_two"
)

// records returns a TFRecord file of tf.Examples with a label y.
func records(t *testing.T, x ...float32) string {
	t.Helper()
	var file bytes.Buffer
	w := tfrecord.NewWriter(&file)
	for _, v := range x {
		one := func(v float32) *tfpb.Feature {
			return &tfpb.Feature{Kind: &tfpb.Feature_FloatList{FloatList: &tfpb.FloatList{Value: []float32{v}}}}
		}
		text, err := proto.Marshal(&tfpb.Example{Features: &tfpb.Features{Feature: map[string]*tfpb.Feature{"x": one(v), "y": one(v/2 + 2)}}})
		if err == nil {
			err = w.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return file.String()
}

// TestPredict verifies the predictions for records of each format, by files and by standard input, and
// that each fault names the file and the line.
func TestPredict(t *testing.T) {
	ofExamples, ofInputs := Options{Bundle: examples, Signature: "regress_x_to_y"}, Options{Bundle: examples}
	many := "x\n" + strings.Repeat("2\n", blockRecords) + "4\n"
	for _, tt := range []struct {
		name string
		of   Options
		text string
		want string // the end of what is written, or of the error
		code int
	}{
		{"csv", ofExamples, "x\n1\n2\n", "record,prediction\n0,2.5\n1,3\n", 0},
		{"csv with a byte order mark", ofExamples, "\ufeffx\n1\n", "record,prediction\n0,2.5\n", 0},
		{"a column too many", ofExamples, "z,x2,x\nmore,7,1\n", "record,prediction\n0,2.5\n", 0},
		{"missing cell", ofExamples, "x,x2\n1,\n,1\n", "a.txt: line 3: has no x, which has no default", exitcode.BadData},
		{"several blocks", ofExamples, many, "255,3\n256,4\n", 0},
		{"inputs", ofInputs, "z,x\nmore,1\n", "record,y\n0,2.5\n", 0},
		{"JSON lines of inputs", ofInputs, "{\"x\": [1]}\n", "record,y\n0,2.5\n", 0},
		{"JSON lines", ofExamples, "{\"x\": 1}\n\n{\"x\": [2]}\n", "record,prediction\n0,2.5\n1,3\n", 0},
		{"TFRecord", ofExamples, records(t, 1, 2), "record,prediction\n0,2.5\n1,3\n", 0},
		{"tensors", Options{Bundle: matrices}, `{"x": [[0,0,0],[0,0,0],[0,0,2]]}` + "\n" + `[[]]`, "a.txt: line 2: ", exitcode.BadData},
		{"tensors by name", Options{Bundle: matrices, Output: "y"}, `{"x": [[0,0,0],[0,0,0],[0,0,2]]}`, "\n0,2,2,2,2,2,2,2,2,3\n", 0},
		{"misspelt column", ofExamples, "xx\n1\n", `no column xx (did you mean x?)`, exitcode.BadData},
		{"no number", ofExamples, "x\n1\none\n", `a.txt: line 3: x is "one", want a number`, exitcode.BadData},
		{"quotes", ofExamples, "x\n1\n\"2\n", "a.txt: line 3: ", exitcode.BadData},
		{"two rows in a line", ofExamples, "{\"x\": 1}, {\"x\": 2}\n", "a.txt: line 1: the body is no JSON", exitcode.BadData},
		{"misspelt key", ofExamples, "{\"x\": 1}\n{\"xx\": 1}\n", "a.txt: line 2: ", exitcode.BadData},
		{"cut JSON", ofExamples, "{\"x\": 1}\n{\"x\": \n", "a.txt: line 2: ", exitcode.BadData},
		{"cut TFRecord", ofExamples, records(t, 1)[:20], "a.txt", exitcode.BadData},
		{"header alone", ofExamples, "x\n", "a.txt has no record", exitcode.BadData},
		{"empty", ofExamples, "", "a.txt has no record", exitcode.BadData},
		{"misspelt input", ofInputs, "xx\n1\n", "a.txt: line 1: the model takes no column xx (did you mean x?)", exitcode.BadData},
		{"no number for an input", ofInputs, "x\n1\none\n", "a.txt: line 3: ", exitcode.BadData},
		{"CSV for matrices", Options{Bundle: matrices}, "x\n1\n", "want JSON", exitcode.BadData},
		{"TFRecord for matrices", Options{Bundle: matrices}, records(t, 1), "want JSON lines", exitcode.BadData},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "a.txt")
			if err := os.WriteFile(name, []byte(tt.text), 0o666); err != nil {
				t.Fatal(err)
			}
			var files bytes.Buffer
			err := predict(t, tt.of, Files{Names: []string{name}}, &files)
			got := files.String()
			if tt.code != 0 {
				got = fmt.Sprint(err)
			}
			if exitcode.Of(err) != tt.code || !strings.Contains(got, tt.want) || tt.code == 0 && !strings.HasSuffix(got, tt.want) {
				t.Errorf("%q, error %v with code %d; want %q, %d", got, err, exitcode.Of(err), tt.want, tt.code)
			}
			var piped bytes.Buffer
			pipeErr := predict(t, tt.of, Files{Names: []string{"-"}, Pipe: strings.NewReader(tt.text)}, &piped)
			if piped.String() != files.String() || exitcode.Of(pipeErr) != exitcode.Of(err) {
				t.Errorf("by standard input %q, %v; by a file %q, %v", piped.String(), pipeErr, files.String(), err)
			}
		})
	}
}

// predict writes the predictions of a bundle as CSV.
func predict(t *testing.T, o Options, files Files, to io.Writer) error {
	t.Helper()
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	next := 0
	return b.Predict(t.Context(), files, func(a *ask.Answers) error {
		var table bytes.Buffer
		if err := a.Write(&table); err != nil {
			return err
		}
		if next > 0 { // without the header
			table.ReadString('\n')
		}
		next += a.Rows
		_, err := table.WriteTo(to)
		return err
	})
}

// TestEvaluate verifies the metrics of a bundle for labels of each format, and that labels that are
// missing or wrong are refused by name.
func TestEvaluate(t *testing.T) {
	value := func(n *report.Number) float64 {
		if n == nil {
			return math.NaN()
		}
		return float64(*n)
	}
	for _, tt := range []struct {
		name, text string
		of         Options
		want       string // metrics, or part of the error
	}{
		{"csv", "x,y\n1,2.5\n2,4\n", Options{Bundle: examples, Label: "y", Signature: "regress_x_to_y"}, "rmse 0.7071 accuracy NaN auc NaN"},
		{"JSON lines", "{\"x\": [1], \"y\": 2.5}\n{\"y\": \"4\", \"x\": [2]}\n", Options{Bundle: examples, Label: "y"}, "rmse 0.7071 accuracy NaN auc NaN"},
		{"what JSON does not know", "{\"x\": [NaN], \"y\": 2.5}\n", Options{Bundle: examples, Label: "y"}, "rmse NaN accuracy NaN auc NaN"},
		{"TFRecord", records(t, 1, 2, 3), Options{Bundle: examples, Label: "y", Signature: "regress_x_to_y"}, "rmse 0.0000 accuracy NaN auc NaN"},
		{"two classes", "x,y\n-4,0\n-3,1\n-3.5,true\n-3.9,false\n", Options{Bundle: examples, Label: "y"}, "rmse NaN accuracy 0.5000 auc 1.0000"},
		{"0 and 1, but a regression", "x,y\n-4,0\n-3,1\n", Options{Bundle: examples, Label: "y", Signature: "regress_x_to_y"}, "rmse 0.3536 accuracy NaN auc NaN"},
		{"no label", "x,y\n1,2.5\n", Options{Bundle: examples}, "want --label"},
		{"no such column", "x,y\n1,2.5\n", Options{Bundle: examples, Label: "yy"}, `line 1: no column yy (did you mean y?)`},
		{"no such key", "{\"x\": [1]}\n", Options{Bundle: examples, Label: "y"}, "line 1: no key y"},
		{"no such feature", records(t, 1), Options{Bundle: examples, Label: "z", Signature: "regress_x_to_y"}, "record 0: no feature z"},
		{"no number", "x,y\n1,2.5\n1,much\n", Options{Bundle: examples, Label: "y"}, `record 1: the label is "much", want a number`},
		{"a matrix", "{\"x\": [[0,0,0],[0,0,0],[0,0,2]], \"y\": 9}\n", Options{Bundle: matrices, Label: "y"}, `the label is "9", want a class from 0 to 8`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := Open(tt.of)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			m, err := b.Evaluate(t.Context(), Files{Pipe: strings.NewReader(tt.text)})
			got := fmt.Sprintf("rmse %.4f accuracy %.4f auc %.4f", value(m.RMSE), value(m.Accuracy), value(m.AUC))
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestEvaluateNamed verifies that the labels of a bundle which names its column and its classes need no
// option, and that a text which is no class is refused.
func TestEvaluateNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "1")
	err := os.CopyFS(dir, os.DirFS(filepath.Join(examples, "00000123")))
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "assets.extra"), 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "assets.extra", "ringtrain_columns.json"), []byte(`{"label": {"name": "y", "classes": ["No", "Yes"]}}`), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(Options{Bundle: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	m, err := b.Evaluate(t.Context(), Files{Pipe: strings.NewReader("x,y\n-4,No\n-2.5,Yes\n-3.5,Yes\n")})
	if err != nil || *m.Correct != 2 || float64(*m.AUC) != 1 || fmt.Sprint(m.Classes) != "[No Yes]" {
		t.Errorf("metrics %+v, %v", m, err)
	}
	if _, err := b.Evaluate(t.Context(), Files{Pipe: strings.NewReader("x,y\n-4,Maybe\n")}); err == nil || !strings.Contains(err.Error(), `the label "Maybe" is none of the classes No, Yes`) {
		t.Errorf("error %v", err)
	}
}

// TestOpen verifies that a bundle, a signature or an output that is not there is refused by name.
func TestOpen(t *testing.T) {
	for _, tt := range []struct {
		of   Options
		code int
		want string
	}{
		{Options{Bundle: t.TempDir()}, exitcode.NoInput, "no version folder"},
		{Options{Bundle: examples, Signature: "regress_x_to_z"}, exitcode.Usage, `--signature is "regress_x_to_z", want one of`},
		{Options{Bundle: examples, Output: "z"}, exitcode.Usage, `--output is "z", want one of y of signature serving_default`},
	} {
		b, err := Open(tt.of)
		if err == nil {
			b.Close()
		}
		if exitcode.Of(err) != tt.code || !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%v: %v with code %d, want %q with %d", tt.of, err, exitcode.Of(err), tt.want, tt.code)
		}
	}
}
