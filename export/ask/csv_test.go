package ask

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
)

// described returns what an export says of the columns of visits.
func described(t *testing.T) Columns {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "assets.extra"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := `{"number_words": ["NA"], "key": "visit", "label": {"name": "clicked", "classes": ["no", "yes"]}, "bags": [{"name": "ids", "list": true, "separator": "|"}],
		"forms": [{"name": "price", "decimal": ",", "strip": ".€ "}, {"name": "rent", "decimal": ".", "strip": "$,"}]}`
	if err := os.WriteFile(filepath.Join(dir, "assets.extra", "ringtrain_columns.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := ReadColumns(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestReadTable verifies the tf.Examples of records of CSV.
func TestReadTable(t *testing.T) {
	c := described(t)
	got, err := ReadTable([]byte("\ufeffcity,clicked,age,ids\nBern,1,31.5,1|2\n\"a,\"\"b\"\"\",,NA,\n"), visits, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	equalExample(t, got[0].Bytes[0], `feature{key:"city" value{bytes_list{value:"Bern"}}} feature{key:"age" value{float_list{value:31.5}}} feature{key:"ids" value{int64_list{value:1 value:2}}}`)
	equalExample(t, got[0].Bytes[1], `feature{key:"city" value{bytes_list{value:"a,\"b\""}}}`)
	all := "age,city,ids,pair"
	for text, want := range map[string]string{
		"":                              "no record",
		"age\n":                         "no record",
		"agee,city\n1,a\n":              "the model takes no column agee (did you mean age?), and the header lacks age",
		"note,city,ids,pairs\n,a,1,\n":  "the model takes no column pairs (did you mean pair?), and the header lacks pair",
		"age,age\n1,1\n":                "the header has the column age twice",
		all + ",comment\n1,a,1,,fine\n": "",
		"age,city\n1\n":                 "line 2: 1 cell, want 2",
		"age\n1\nx\n":                   `line 3: age is "x", want a number`,
		"age\n0x10\n":                   `line 2: age is "0x10", want a number`,
		"age\nfit\n":                    `line 2: age is "fit", want a number`,
		"age\n1 2\n":                    `line 2: age is "1 2", want a number`,
		"ids\n1e3|2.5\n":                `line 2: ids is 2.5, want a whole number`,
		"ids\n1|b\n":                    `line 2: ids is "b", want a whole number of 64 bits`,
		"age\n\"1\n":                    "line 2: extraneous or missing",
		"x,y,z\n":                       "the model takes no column x, and the header lacks ",
	} {
		_, err := ReadTable([]byte(text), visits, c, nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// TestTableOfInputs verifies the inputs of records of CSV for a signature whose inputs have one value a record, and which
// signatures and cells are refused.
func TestTableOfInputs(t *testing.T) {
	shaped := func(key string, kind tfpb.DataType, shape ...int) interpreter.Port {
		return interpreter.Port{Key: key, Type: kind, Shape: shape}
	}
	s := of(shaped("a", double, -1), shaped("b", boolean, -1, 1), shaped("c", int32s, -1), shaped("d", texts, -1, 1))
	got, err := ReadTable([]byte("d,note,c,b,a\nx,,3.0,true,1.5\n,,-7,false,-2\n"), s, Columns{}, nil)
	if err == nil || !strings.Contains(err.Error(), "line 3: has no d, which has no default") {
		t.Errorf("a record without an input: %v, %v", got, err)
	}
	got, err = ReadTable([]byte("d,note,c,b,a\nx,,3.0,true,1.5\ny,,-7,false,-2\n"), s, Columns{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"float64[2]1.5 -2.0", "bool[2, 1]true false", "int32[2]3 -7", `string[2, 1]"x" "y"`} {
		if text := tensorText(got[i]); text != want {
			t.Errorf("input %d is %s, want %s", i, text, want)
		}
	}
	for text, want := range map[string]string{
		"a,b,c,d\n1,true x,1,y\n": `line 2: b is "true x", want true or false`,
		"a,b,c,d\n1,true,3e9,y\n": "line 2: c is 3e9, want a whole number of 32 bits",
		"a,b,c\n1,true,3\n":       "",
		"aa,b,c,d\n":              "the model takes no column aa (did you mean a?), and the header lacks a",
	} {
		_, err := ReadTable([]byte(text), s, Columns{}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	for _, p := range []interpreter.Port{port("x", float), shaped("x", float, -1, 2), shaped("x", tfpb.DataType_DT_HALF, -1)} {
		if _, err := ReadTable([]byte("x\n1\n"), of(p), Columns{}, nil); err == nil || !strings.Contains(err.Error(), "a cell has one value") {
			t.Errorf("a signature of tensors takes CSV: %v", err)
		}
	}
}

// TestNumberForms verifies that the numbers of a column are read in the form in which its export read them.
func TestNumberForms(t *testing.T) {
	s := *visits
	s.Features = []interpreter.Feature{{Name: "price", Type: float, Kind: interpreter.Dense}, {Name: "rent", Type: float, Kind: interpreter.Dense}}
	for cells, want := range map[string]string{
		`" € 1.234,5","-$1,234.50"`: `feature{key:"price" value{float_list{value:1234.5}}} feature{key:"rent" value{float_list{value:-1234.5}}}`,
		`"-3,25",12`:                `feature{key:"price" value{float_list{value:-3.25}}} feature{key:"rent" value{float_list{value:12}}}`,
		`€,1`:                       `line 2: price is "€", want a number`,
		`"1,2,3",1`:                 `line 2: price is "1,2,3", want a number`,
		`1,1e39`:                    `line 2: rent is "1e39", want a number`,
	} {
		got, err := ReadTable([]byte("price,rent\n"+cells+"\n"), &s, described(t), nil)
		switch {
		case err == nil:
			equalExample(t, got[0].Bytes[0], want)
		case err.Error() != want:
			t.Errorf("%s: error %v, want %s", cells, err, want)
		}
	}
}

// TestTable verifies the columns of answers: those of predict.
func TestTable(t *testing.T) {
	c := described(t)
	words := func(shape []int, list string) *interpreter.Tensor {
		tensor := &interpreter.Tensor{Type: texts, Shape: shape}
		for word := range strings.FieldsSeq(list) {
			tensor.Bytes = append(tensor.Bytes, []byte(word))
		}
		return tensor
	}
	floats := func(shape []int, list ...float32) *interpreter.Tensor {
		return &interpreter.Tensor{Type: float, Shape: shape, Float32: list}
	}
	both := []interpreter.Port{port("classes", texts), port("scores", float)}
	type tensors = []*interpreter.Tensor
	for _, tt := range []struct {
		name          string
		columns       Columns
		ports         []interpreter.Port
		outputs, keys tensors
		want          string
	}{
		{"two classes and a key", c, both, tensors{words([]int{2, 2}, "no yes no yes"), floats([]int{2, 2}, 0.25, 0.75, 0.875, 0.125)}, tensors{words([]int{2}, "v1 v2")},
			"visit,class,score\nv1,yes,0.75\nv2,no,0.125\n"},
		{"a key called like another column", Columns{Keys: []string{"class"}}, both, tensors{words([]int{1, 2}, "0 1"), floats([]int{1, 2}, 0.25, 0.75)}, tensors{words([]int{1}, "v1")},
			"key_class,class,score\nv1,1,0.75\n"},
		{"classes in the order of scores", Columns{}, both, tensors{words([]int{2, 3}, "2 10 1 10 1 2"), floats([]int{2, 3}, 0.5, 0.375, 0.125, 0.75, 0.25, 0)}, nil,
			"record,class,score_1,score_2,score_10\n0,2,0.125,0.5,0.375\n1,10,0.25,0,0.75\n"},
		{"rows of other classes", Columns{}, both, tensors{words([]int{2, 2}, "a b a c"), floats([]int{2, 2}, 0.75, 0.25, 0.5, 0.125)}, nil,
			"record,classes_0,classes_1,scores_0,scores_1\n0,a,b,0.75,0.25\n1,a,c,0.5,0.125\n"},
		{"no class at all", Columns{}, both, tensors{words([]int{2, 0}, ""), floats([]int{2, 0})}, nil, "record\n0\n1\n"},
		{"a regression", Columns{}, []interpreter.Port{port("outputs", float)}, tensors{floats([]int{2, 1}, 1.5, -2)}, nil, "record,prediction\n0,1.5\n1,-2\n"},
		{"other outputs", Columns{}, []interpreter.Port{port("a", texts), port("b", float)}, tensors{words([]int{2}, "u v"), floats([]int{2, 2}, 1, 2, 3, 4)}, nil,
			"record,a,b_0,b_1\n0,u,1,2\n1,v,3,4\n"},
	} {
		a, err := tt.columns.answers(tt.ports, tt.outputs, tt.keys, 0)
		var text strings.Builder
		if err == nil {
			err = a.Write(&text)
		}
		if diff := cmp.Diff(tt.want, text.String()); err != nil || diff != "" {
			t.Errorf("%s: %v, %s", tt.name, err, diff)
		}
	}
	a, err := Columns{}.answers([]interpreter.Port{port("y", double)}, tensors{{Type: double, Shape: []int{3}, Float64: []float64{1, 0.1, math.Inf(-1)}}}, nil, 7)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(a.Row(nil, 0), a.Row(nil, 1), a.Row(nil, 2)); got != "[7 1] [8 0.1] [9 -Inf]" {
		t.Errorf("doubles are %s", got)
	}
	if _, err := c.answers(both, tensors{floats(nil, 1)}, nil, 0); err == nil {
		t.Error("an output without records is answered")
	}
}

// FuzzTable verifies that no CSV makes the reader panic, and that there is an example for each record.
func FuzzTable(f *testing.F) {
	f.Add("age,city,ids\n31,Bern,1|2\n-NaN,\"a\",\n")
	f.Add("ids\n1e3|t|[|\"\n")
	c := Columns{Words: []string{"NA"}, Bags: []Bag{{Name: "ids", Separator: "|", List: true}}}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ReadTable([]byte(text), visits, c, nil)
		if err != nil {
			return
		}
		for _, e := range got[0].Bytes {
			if err := proto.Unmarshal(e, new(tfpb.Example)); err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzDocument verifies that no request makes the reader panic, and that a tensor has as many values as its shape says.
func FuzzDocument(f *testing.F) {
	for _, text := range []string{
		`{"instances": [[1, NaN], [2.5e3, -Infinity]]}`, `{"inputs": {"x": "\ud83d\ude00", "b64": null}}`, `{"instances": [{"b64": "YQ"}, "b"]}`,
		`{"instances": [{"age": 31, "city": "Bern", "ids": [1, [2]]}], "signature_name": "x"}`, `{"examples": [{"age": true}], "context": {}}`,
	} {
		f.Add([]byte(text))
	}
	signatures := []*interpreter.Signature{visits, needs, of(port("x", float)), of(port("x", texts)), of(port("a", int32s), port("x", boolean)), of(port("x", double)), of(port("x", int64s))}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text, nil)
		if err != nil {
			return
		}
		for _, s := range signatures {
			all, _, err := d.Inputs(s)
			if err == nil {
				for _, in := range all {
					n := len(in.Float32) + len(in.Float64) + len(in.Int32) + len(in.Int64) + len(in.Bool) + len(in.Bytes)
					if n != interpreter.Elements(in.Shape) {
						t.Errorf("%q gives %d values of the shape %v", text, n, in.Shape)
					}
				}
			}
			if _, err = d.Examples(s); err == nil {
				_, err = d.Signature()
			}
			_ = fmt.Sprint(err)
		}
	})
}
