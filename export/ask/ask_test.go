package ask

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"ringtrain/export/interpreter"
	"ringtrain/export/serving/servingpb"
	"ringtrain/export/tfpb"
)

const (
	float   = tfpb.DataType_DT_FLOAT
	double  = tfpb.DataType_DT_DOUBLE
	int32s  = tfpb.DataType_DT_INT32
	int64s  = tfpb.DataType_DT_INT64
	boolean = tfpb.DataType_DT_BOOL
	texts   = tfpb.DataType_DT_STRING
)

// port is an input or output of any shape.
func port(key string, t tfpb.DataType) interpreter.Port { return interpreter.Port{Key: key, Type: t} }

// of is a signature of inputs.
func of(inputs ...interpreter.Port) *interpreter.Signature {
	return &interpreter.Signature{Name: DefaultSignature, Inputs: inputs}
}

// visits is a signature that takes tf.Examples.
var visits = &interpreter.Signature{Name: DefaultSignature, Inputs: []interpreter.Port{port("examples", texts)}, Features: []interpreter.Feature{
	{Name: "age", Type: float, Kind: interpreter.Dense, Default: &interpreter.Tensor{Type: float, Float32: []float32{7}}},
	{Name: "city", Type: texts, Kind: interpreter.Dense, Default: &interpreter.Tensor{Type: texts, Bytes: [][]byte{nil}}},
	{Name: "ids", Type: int64s, Kind: interpreter.Sparse, Shape: []int{-1}},
	{Name: "pair", Type: int64s, Kind: interpreter.Dense, Shape: []int{2}, Default: &interpreter.Tensor{Type: int64s, Shape: []int{2}, Int64: []int64{0, 0}}},
}}

// needs is a signature whose only feature has no default.
var needs = &interpreter.Signature{Name: "needs", Inputs: visits.Inputs, Features: []interpreter.Feature{{Name: "x", Type: float, Kind: interpreter.Dense}}}

// tensorText writes a tensor for a comparison: type, shape, values.
func tensorText(t *interpreter.Tensor) string {
	values := []string{}
	next := 0
	for range interpreter.Elements(t.Shape) {
		values = append(values, string(appendTensor(nil, "", &interpreter.Tensor{Type: t.Type, Float32: t.Float32, Float64: t.Float64, Int32: t.Int32, Int64: t.Int64, Bool: t.Bool, Bytes: t.Bytes}, 0, &next)))
	}
	return fmt.Sprint(typeName(t.Type), strings.ReplaceAll(fmt.Sprint(t.Shape), " ", ", "), strings.Join(values, " "))
}

// TestInputs verifies the tensors of requests in both forms, and the numbers that JSON does not know.
func TestInputs(t *testing.T) {
	x, xs := of(port("x", float)), of(port("a", int32s), port("b", texts))
	for _, tt := range []struct {
		name, text string
		signature  *interpreter.Signature
		want       string
	}{
		{"rows of scalars", `{"instances": [1, 2.5, -3e2]}`, x, "float32[3]1.0 2.5 -300.0"},
		{"a byte order mark", "\ufeff{\"instances\": [1]}", x, "float32[1]1.0"},
		{"rows of lists", ` { "instances" : [ [1,2] , [3,4] ] } `, x, "float32[2, 2]1.0 2.0 3.0 4.0"},
		{"rows of empty lists", `{"instances": [[], []]}`, x, "float32[2, 0]"},
		{"numbers that are not finite", `{"instances": [NaN, Infinity, -Infinity, Inf, -Inf, -NaN]}`, x, "float32[6]NaN Infinity -Infinity Infinity -Infinity NaN"},
		{"NaN in a text is a text", `{"instances": ["NaN \" Infinity"]}`, of(port("t", texts)), `string[1]"NaN \" Infinity"`},
		{"numbers that a float does not hold", `{"instances": [16777217, 1435774380.0, 1e39, -1e39, 1e-60]}`, x, "float32[5]16777216.0 1.43577434e+09 Infinity -Infinity 0.0"},
		{"one input by its key", `{"instances": [{"x": 1}, {"x": 2}]}`, x, "float32[2]1.0 2.0"},
		{"two inputs", `{"instances": [{"a": [1], "b": "u"}, {"b": "v", "a": [-2]}]}`, xs, `int32[2, 1]1 -2; string[2]"u" "v"`},
		{"a column", `{"inputs": [[1, 2, 3]]}`, x, "float32[1, 3]1.0 2.0 3.0"},
		{"a scalar column", `{"inputs": 5}`, x, "float32[]5.0"},
		{"columns", `{"inputs": {"b": ["u", "v", "w"], "a": 4}}`, xs, `int32[]4; string[3]"u" "v" "w"`},
		{"double", `{"inputs": [0.1, 9007199254740992]}`, of(port("x", double)), "float64[2]0.1 9007199254740992.0"},
		{"whole numbers of 64 bits", `{"inputs": [9223372036854775807, -9223372036854775808]}`, of(port("x", int64s)), "int64[2]9223372036854775807 -9223372036854775808"},
		{"truth", `{"inputs": [true, false]}`, of(port("x", boolean)), "bool[2]true false"},
		{"base64 with and without padding", `{"instances": [{"b64": "YQ=="}, {"b64": "YQ"}, {"b64": ""}]}`, of(port("x", texts)), `string[3]"a" "a" ""`},
		{"escapes", `{"instances": ["\u00fc\n\ud83d\ude00\/"]}`, of(port("x", texts)), `string[1]"ü\n😀/"`},
		{"the first of two keys", `{"instances": [1], "instances": [2]}`, x, "float32[1]1.0"},
		{"keys that are not known", `{"signature_name": "x", "other": [{}, null], "instances": [1]}`, x, "float32[1]1.0"},
		{"examples as they are", `{"instances": [{"b64": "YQ=="}, "b"]}`, visits, `string[2]"a" "b"`},
		{"examples by their key", `{"instances": [{"examples": {"b64": "YQ=="}}]}`, visits, `string[1]"a"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Parse([]byte(tt.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			inputs, rows, err := d.Inputs(tt.signature)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, in := range inputs {
				got = append(got, tensorText(in))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" || rows != strings.Contains(tt.text, "instances") {
				t.Errorf("rows %v, %s", rows, diff)
			}
		})
	}
}

// TestFaults verifies that a body that is not as the signature wants is an error that says where.
func TestFaults(t *testing.T) {
	x, xs := of(port("x", float)), of(port("a", int32s), port("b", texts))
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	for _, tt := range []struct {
		text      string
		signature *interpreter.Signature
		want      string
	}{
		{"", x, "the body is empty"},
		{" \n", x, "the body is empty"},
		{"{", x, "at byte 2: unexpected EOF"},
		{`{"instances": [1,]}`, x, "at byte 18"},
		{`{"instances": [NaN, nan]}`, x, "at byte 22"},
		{`{"instances": [01]}`, x, "at byte 17"},
		{`{"instances": [[31, "Bern"]]}`, visits, `instances[0] is a list, want an object of columns, as {"`},
		{`{"instances": [[]]}`, visits, "instances[0] is a list, want an object of columns"},
		{`{"inputs": {"age": [31, 32]}}`, visits, `inputs are columns of the model, want them by row: {"instances": [{"`},
		{`{"inputs": {"agee": [31, 32]}}`, visits, "inputs has the key agee, want each of the inputs"},
		{`{"instances": [{"age": "31"}]}`, visits, `instances[0].age is "31", want a number without quotes`},
		{`{"instances": [1]} x`, x, "at byte 20"},
		{`{"instances": ["a` + "\n" + `"]}`, x, "at byte 18"},
		{"[1]", x, "the body is [1], want a JSON object"},
		{`{"signature_name": 1}`, x, "signature_name is 1, want a text"},
		{`{"instances": [1], "inputs": [1]}`, x, "both instances and inputs"},
		{`{"inputs": {}}`, of(), "has no inputs"},
		{`{"x": [1]}`, x, "neither instances (rows) nor inputs (columns)"},
		{`{"instances": {"x": 1}}`, x, `instances is {"x": 1}, want a list`},
		{`{"instances": []}`, x, "instances is empty"},
		{`{"instances": [1]}`, xs, "want objects: the inputs are a, b"},
		{`{"inputs": [1]}`, xs, "want objects: the inputs are a, b"},
		{`{"instances": [{"x": 1}, 2]}`, x, "instances[1] is 2, want a JSON object"},
		{`{"instances": [1, {"x": 2}]}`, x, `instances[1] is {"x": 2}, want a number`},
		{`{"instances": [{"a": 1}]}`, xs, "instances[0] has 1 of the inputs a, b, want each"},
		{`{"instances": [{"a": 1, "b": "u"}, {"a": 1, "a": 2, "b": "u"}]}`, xs, "instances[1] has the key a, want each of the inputs a, b once"},
		{`{"inputs": {"a": 1, "b": "u", "c": 1}}`, xs, "inputs has the key c, want"},
		{`{"instances": [[1, 2], [3]]}`, x, "instances[1] has 1 values, want 2"},
		{`{"instances": [[1], 2]}`, x, "instances[1] is 2, want a list"},
		{`{"instances": [1, [2]]}`, x, "instances[1] is a list, want a number"},
		{`{"instances": [[1, "b"]]}`, x, `instances[0][1] is "b", want a number`},
		{`{"instances": [1e309]}`, x, "instances[0] is 1e309, want a number"},
		{`{"instances": [null]}`, x, "instances[0] is null, want"},
		{`{"inputs": [1.0]}`, of(port("x", int64s)), "inputs[0] is 1.0, want a whole number of 64 bits"},
		{`{"inputs": [2147483648]}`, of(port("x", int32s)), "inputs[0] is 2147483648, want a whole number of 32 bits"},
		{`{"inputs": ["true"]}`, of(port("x", boolean)), `inputs[0] is "true", want true or false`},
		{`{"instances": [{"b64": "%"}]}`, of(port("x", texts)), `instances[0] is {"b64": "%"}, want a text or {"b64": TEXT}`},
		{`{"instances": [{"b64": "YQ", "x": 1}]}`, of(port("x", texts)), `instances[0] is {"b64": "YQ", "x": 1}, want a text`},
		{`{"instances": [1]}`, of(port("x", tfpb.DataType_DT_UINT8)), "which JSON cannot give"},
		{`{"instances": ` + nested(100_000) + `}`, x, "exceeded max depth"},
		{`{"instances": ` + nested(70) + `}`, x, "is a list, want"},
		{`{"instances": [{"age": ` + nested(70) + `}]}`, visits, "is a list, want"},
		{`{"instances": ["` + strings.Repeat("a", 300) + `"]}`, x, `…, want a number`},
		{`{"instances": [{"agee": 1}]}`, visits, "instances[0] has no column agee (did you mean age?)"},
		{`{"instances": [{"age": "31"}]}`, visits, `instances[0].age is "31", want a number`},
		{`{"instances": [{"age": [1, 2]}]}`, visits, "instances[0].age has 2 values, want a float32 of shape []"},
		{`{"instances": [{"ids": [1, 2.5]}]}`, visits, "instances[0].ids[1] is 2.5, want a whole number of 64 bits"},
		{`{"instances": [{"ids": [1e30]}]}`, visits, "instances[0].ids[0] is 1e30, want a whole number"},
		{`{"instances": [{"age": null}, 5]}`, visits, "instances[1] is 5, want a JSON object"},
		{`{"instances": [{"city": {"a": 1}}]}`, visits, `instances[0].city is {"a": 1}, want a text`},
		{`{"instances": [{"x": 1}, {"x": null}]}`, needs, "instances[1] has no x, which has no default"},
	} {
		d, err := Parse([]byte(tt.text), nil)
		if err == nil {
			_, err = d.Signature()
		}
		if err == nil {
			_, _, err = d.Inputs(tt.signature)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s: error %v, want %s", tt.text, err, tt.want)
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("%.60s: the message has %d bytes", tt.text, len(err.Error()))
		}
	}
}

// TestMeter verifies that what a request takes is told before it is made, and that an error ends it.
func TestMeter(t *testing.T) {
	const rows = 5000
	end := errors.New("enough")
	for text, want := range map[string]int{
		`{"instances": [` + strings.Repeat(`"",`, rows) + `""]}`: valueBytes*rows + rowBytes,
		`{"instances": [` + strings.Repeat("{},", rows) + `{}]}`: (rowBytes+valueBytes)*rows + 2*rowBytes,
	} {
		for _, refused := range []error{nil, end} {
			told := 0
			_, err := Parse([]byte(text), func(bytes int) error {
				told += bytes
				return refused
			})
			if err != refused || told != want {
				t.Errorf("%.20s…: %v after %d bytes, want %v after %d", text, err, told, refused, want)
			}
		}
	}
}

// TestMeterOfTable verifies that records of CSV are told, too.
func TestMeterOfTable(t *testing.T) {
	end := errors.New("enough")
	if _, err := ReadTable([]byte("age\n"+strings.Repeat("1\n", 1000)), visits, Columns{}, func(int) error { return end }); err != end {
		t.Errorf("error %v, want that of the meter", err)
	}
}

// TestRows verifies the tf.Examples of rows of raw columns: a value becomes what its feature is.
func TestRows(t *testing.T) {
	for text, want := range map[string]string{
		`{"age": 31, "city": "Bern"}`:           `feature{key:"age" value{float_list{value:31}}} feature{key:"city" value{bytes_list{value:"Bern"}}}`,
		`{"city": {"b64": "/w=="}, "age": NaN}`: `feature{key:"age" value{float_list{value:nan}}} feature{key:"city" value{bytes_list{value:"\377"}}}`,
		`{"city": 1e3, "age": true}`:            `feature{key:"age" value{float_list{value:1}}} feature{key:"city" value{bytes_list{value:"1e3"}}}`,
		`{"ids": [7, 8.0, -1], "pair": [1,2]}`:  `feature{key:"ids" value{int64_list{value:7 value:8 value:-1}}} feature{key:"pair" value{int64_list{value:1 value:2}}}`,
		`{"ids": 5, "pair": [[1],[2]]}`:         `feature{key:"ids" value{int64_list{value:5}}} feature{key:"pair" value{int64_list{value:1 value:2}}}`,
		`{"age": null, "ids": [], "city": []}`:  ``,
	} {
		for list, key := range map[string]string{"instances": `"instances": [{"age": null}, `, "examples": `"examples": [{}, `} {
			d, err := Parse([]byte("{"+key+text+"]}"), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got *interpreter.Tensor
			if list == "examples" {
				got, err = d.Examples(visits)
			} else {
				var all []*interpreter.Tensor
				all, _, err = d.Inputs(visits)
				got = all[0]
			}
			if err != nil || len(got.Bytes) != 2 || got.Shape[0] != 2 {
				t.Fatalf("%s: %v, %v", text, got, err)
			}
			equalExample(t, got.Bytes[0], "")
			equalExample(t, got.Bytes[1], want)
		}
	}
}

// equalExample compares a serialized example with the text of its features.
func equalExample(t *testing.T, example []byte, features string) {
	t.Helper()
	var got tfpb.Example
	if err := proto.Unmarshal(example, &got); err != nil {
		t.Fatal(err)
	}
	want := &tfpb.Example{Features: &tfpb.Features{}}
	if err := prototext.Unmarshal([]byte("features{"+features+"}"), want); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(&got, want) {
		t.Errorf("the example is %v, want %v", &got, want)
	}
}

// TestContext verifies that the context is in each example, and that an example's own feature comes behind it.
func TestContext(t *testing.T) {
	d, err := Parse([]byte(`{"context": {"age": 1, "city": "Bern"}, "examples": [{"age": 2}, {}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Examples(visits)
	if err != nil {
		t.Fatal(err)
	}
	for i, age := range []int{2, 1} {
		equalExample(t, got.Bytes[i], fmt.Sprintf(`feature{key:"age" value{float_list{value:%d}}} feature{key:"city" value{bytes_list{value:"Bern"}}}`, age))
	}
	for text, want := range map[string]string{
		`{}`: "no key examples", `{"examples": 1}`: "examples is 1, want a list", `{"examples": []}`: "examples is empty",
		`{"examples": [1]}`: "examples[0] is 1, want a JSON object", `{"context": {"a": 1}, "examples": [{}]}`: "context has no column a",
	} {
		d, err := Parse([]byte(text), nil)
		if err == nil {
			_, err = d.Examples(visits)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

// TestAppendFloat verifies the digits of numbers: those of TensorFlow Serving.
func TestAppendFloat(t *testing.T) {
	for _, tt := range []struct {
		v    float64
		bits int
		want string
	}{
		{0, 32, "0.0"}, {1, 32, "1.0"}, {-2.5, 32, "-2.5"}, {float64(float32(0.2)), 32, "0.2"}, {float64(float32(1) / 3), 32, "0.333333343"},
		{100000, 32, "100000.0"}, {9000000, 32, "9e+06"}, {float64(float32(0.00003)), 32, "3e-05"}, {16777216, 32, "16777216.0"},
		{1.0 / 3, 64, "0.33333333333333331"}, {0.1, 64, "0.1"}, {123456789, 64, "123456789.0"},
	} {
		if got := string(appendFloat(nil, tt.v, tt.bits)); got != tt.want {
			t.Errorf("%v of %d bits is %s, want %s", tt.v, tt.bits, got, tt.want)
		}
	}
}

// TestAnswers verifies the answers of each form.
func TestAnswers(t *testing.T) {
	scores := &interpreter.Tensor{Type: float, Shape: []int{2, 2}, Float32: []float32{0.25, 0.75, 1, 0}}
	names := &interpreter.Tensor{Type: texts, Shape: []int{2}, Bytes: [][]byte{[]byte("a\"\n"), {0xff}}}
	scalar := &interpreter.Tensor{Type: int64s, Int64: []int64{5}}
	rows := func(ports []interpreter.Port, tensors ...*interpreter.Tensor) string {
		text, err := AppendRows(nil, ports, tensors)
		return fmt.Sprint(string(text), err)
	}
	for _, tt := range []struct{ name, got, want string }{
		{"rows of one output", rows([]interpreter.Port{port("y", float)}, scores), "{\n    \"predictions\": [\n        [0.25, 0.75],\n        [1.0, 0.0]\n    ]\n}\n<nil>"},
		{"rows of two outputs", rows([]interpreter.Port{port("k", texts), port("y", float)}, names, scores),
			"{\n    \"predictions\": [\n        {\"k\": \"a\\\"\\n\", \"y\": [0.25, 0.75]},\n        {\"k\": \"\ufffd\", \"y\": [1.0, 0.0]}\n    ]\n}\n<nil>"},
		{"bytes", rows([]interpreter.Port{port("k_bytes", texts)}, names), "{\n    \"predictions\": [\n        {\"b64\": \"YSIK\"},\n        {\"b64\": \"/w==\"}\n    ]\n}\n<nil>"},
		{"columns of one output", string(AppendColumns(nil, []interpreter.Port{port("n", int64s)}, []*interpreter.Tensor{scalar})), "{\n    \"outputs\": 5\n}\n"},
		{"columns of two outputs", string(AppendColumns(nil, []interpreter.Port{port("n", int64s), port("y", float)}, []*interpreter.Tensor{scalar, scores})),
			"{\n    \"outputs\": {\"n\": 5, \"y\": [[0.25, 0.75], [1.0, 0.0]]}\n}\n"},
		{"regression", string(AppendResults(nil, nil, []*servingpb.Regression{{Value: 1}, {Value: 2.5}})), "{\n    \"results\": [\n        1.0,\n        2.5\n    ]\n}\n"},
		{"classification", string(AppendResults(nil, []*servingpb.Classifications{{Classes: []*servingpb.Class{{Score: 0.25}, {Label: "a", Score: 1}}}, {}}, nil)), "{\n    \"results\": [\n        [[\"\", 0.25], [\"a\", 1.0]],\n        []\n    ]\n}\n"},
		{"an error", string(AppendError(nil, "x is \"a\"")), "{\n    \"error\": \"x is \\\"a\\\"\"\n}\n"},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	if text := rows(nil); !strings.Contains(text, "no outputs") {
		t.Errorf("rows of no output are %s", text)
	}
	if text := rows([]interpreter.Port{port("n", int64s)}, scalar); !strings.Contains(text, "no row for each instance") {
		t.Errorf("rows of a scalar are %s", text)
	}
}

// TestSample verifies that the request that is shown for a signature is one that the signature takes.
func TestSample(t *testing.T) {
	image := of(interpreter.Port{Key: "x", Type: float, Shape: []int{-1, 2, 2}})
	pair := of(interpreter.Port{Key: "a", Type: int64s, Shape: []int{-1, 2}}, interpreter.Port{Key: "shape", Type: int64s, Shape: []int{2}})
	like := &tfpb.Example{}
	if err := prototext.Unmarshal([]byte(`features{feature{key:"age" value{float_list{value:31}}} feature{key:"city" value{bytes_list{value:"O'Hara"}}}}`), like); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		signature *interpreter.Signature
		like      *tfpb.Example
		want      string
	}{
		{visits, nil, `{"instances": [{"age": 0.0, "city": "", "ids": [0], "pair": [0, 0]}]}`},
		{visits, like, `{"instances": [{"age": 31.0, "city": "O'Hara", "ids": [0], "pair": [0, 0]}]}`},
		{image, nil, `{"instances": [[[0.0, 0.0], [0.0, 0.0]]]}`},
		{pair, nil, `{"inputs": {"a": [[0, 0]], "shape": [0, 0]}}`},
		{of(port("x", boolean)), nil, `{"instances": [false]}`},
		{&interpreter.Signature{Name: DefaultSignature, Inputs: visits.Inputs, Features: []interpreter.Feature{}}, nil, `{"instances": [{}]}`},
		{&interpreter.Signature{Name: "a\"b", Inputs: image.Inputs[:1]}, nil, `{"signature_name": "a\"b", "instances": [[[0.0, 0.0], [0.0, 0.0]]]}`},
	} {
		got, err := Sample(tt.signature, tt.like)
		if diff := cmp.Diff(tt.want, string(got)); err != nil || diff != "" {
			t.Error(err, diff)
		}
		d, err := Parse(got, nil)
		if err == nil {
			_, _, err = d.Inputs(tt.signature)
		}
		if err != nil {
			t.Errorf("%s: %v", got, err)
		}
	}
	for _, shape := range [][]int{{-1, 1 << 40}, {1 << 40, 1 << 40}, {-1, 1 << 11, 1 << 11}} {
		big := of(interpreter.Port{Key: "x", Type: float, Shape: shape})
		if _, err := Sample(big, nil); err == nil || !strings.Contains(err.Error(), "more than 1048576 values") {
			t.Errorf("an example of the shape %v: %v", shape, err)
		}
	}
	if got, err := Sample(of(interpreter.Port{Key: "x", Type: float, Shape: []int{-1, -1 << 40}}), nil); err != nil || string(got) != `{"instances": [[0.0]]}` {
		t.Errorf("an example of a length below 0: %s, %v", got, err)
	}
	counter := &interpreter.Model{Signatures: []interpreter.Signature{*of(), *image, *pair}}
	counter.Signatures[0].Name, counter.Signatures[1].Name, counter.Signatures[2].Name = "a", "b", "c"
	if a, err := AboutOf("http://h:1", "m", counter); err != nil || a.Signature != "b" {
		t.Errorf("the signature that is asked is %s, %v, want the first with inputs", a.Signature, err)
	}
	if _, err := AboutOf("http://h:1", "m", &interpreter.Model{Signatures: []interpreter.Signature{*of()}}); err == nil {
		t.Error("a model without inputs has a request")
	}
	request, _ := Sample(visits, like)
	if got := curl("http://h:1", "m", request); !strings.HasPrefix(got, "curl -s http://h:1/v1/models/m:predict -d '{") || !strings.Contains(got, `O'\''Hara`) {
		t.Errorf("the line is %s", got)
	}
	if got := curl("http://h:1", "m", make([]byte, 1000)); got != "curl -s http://h:1/v1/models/m/example | curl -s -d @- http://h:1/v1/models/m:predict" {
		t.Errorf("the line of a long request is %s", got)
	}
	if got := curl("http://h:1", "a&b:c $d", nil); got != "curl -s http://h:1/v1/models/a%26b%3Ac%20%24d:predict -d ''" {
		t.Errorf("the line of an odd name is %s", got)
	}
	if got := curl("", "m", request); got != "" {
		t.Errorf("the line without a server is %s", got)
	}
}

// TestForeignKeys verifies that keys which mean nothing take no memory of a request, and hide no others.
func TestForeignKeys(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, `,"k%d":[{"instances":1}]`, i)
	}
	d, err := Parse([]byte(`{"x":1`+text.String()+`,"instances":[2],"instances":[3]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(d) != 1 {
		t.Errorf("a request keeps %d keys, want 1", len(d))
	}
	if all, rows, err := d.Inputs(of(port("x", float))); err != nil || !rows || tensorText(all[0]) != "float32[1]2.0" {
		t.Errorf("the rows are %v, %v", all, err)
	}
}

// TestRow verifies that a line is one row, whatever it closes and opens.
func TestRow(t *testing.T) {
	x := of(port("x", float))
	for text, want := range map[string]string{
		`{"x": [1, NaN]}`:                "",
		`{"x": "a"}`:                     ".x is \"a\", want a number",
		`{"x": 1}, {"x": 2}`:             "the body is no JSON",
		`{"x": 1}], "inputs": [{"x": 2}`: "the body is no JSON",
		`{"x": `:                         "the body is no JSON",
	} {
		all, err := Row([]byte(text), x)
		if want == "" && (err != nil || tensorText(all[0]) != "float32[1, 2]1.0 NaN") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %v, want %q", text, all, err, want)
		}
	}
}

// TestCutMember verifies what stays of an object without one of its members.
func TestCutMember(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": [1, NaN], "y": "b", "c\n": {"y": 2}}`: `{"a":[1, NaN],"c\n":{"y": 2}} "b"`,
		`{"y": 1}`: `{} 1`,
		`{"a": 1}`: `{"a":1} `,
	} {
		rest, value, err := CutMember([]byte(text), "y")
		if got := fmt.Sprintf("%s %s", rest, value); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{`[1]`, `{"y": 1`, ``} {
		if _, _, err := CutMember([]byte(text), "y"); err == nil {
			t.Errorf("%s is an object", text)
		}
	}
}
