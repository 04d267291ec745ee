package ask

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/bundle"
	"ringtrain/export/interpreter"
	"ringtrain/export/serving/servingpb"
	"ringtrain/export/tfpb"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/phrase"
)

// maxSample bounds the values of a request that is made up: a shape out of a file may say anything.
const maxSample = 1 << 20

// Sample returns a predict request that a signature answers: rows of raw columns, of values, or columns if an
// input has no dimension of records. The columns are those of like, if it is not nil, else zeros.
func Sample(s *interpreter.Signature, like *tfpb.Example) ([]byte, error) {
	left := maxSample
	for _, p := range s.Inputs {
		left = spent(left, p.Shape)
	}
	for _, f := range s.Features {
		left = spent(left, f.Shape)
	}
	if left < 0 {
		return nil, fmt.Errorf("the signature %s takes more than %d values, and no example has so many", phrase.Name(s.Name), maxSample)
	}
	rows := !slices.ContainsFunc(s.Inputs, func(p interpreter.Port) bool { return p.Shape != nil && (len(p.Shape) == 0 || p.Shape[0] >= 0) })
	var keys []string
	var values [][]byte
	if TakesExamples(s) {
		for _, f := range s.Features {
			keys, values = append(keys, f.Name), append(values, featureOf(f, like.GetFeatures().GetFeature()[f.Name]))
		}
	} else {
		for _, p := range s.Inputs {
			shape := p.Shape
			if rows && len(shape) > 0 {
				shape = shape[1:]
			}
			keys, values = append(keys, p.Key), append(values, appendZeros(nil, zeros[p.Type], shape))
		}
	}
	var value []byte
	if !TakesExamples(s) && len(keys) == 1 {
		value = values[0]
	} else {
		value = appendItems(nil, "{}", len(keys), func(dst []byte, i int) []byte {
			return append(append(appendText(dst, keys[i]), ": "...), values[i]...)
		})
	}
	request := []byte{'{'}
	if s.Name != DefaultSignature {
		request = append(appendText(append(request, `"signature_name": `...), s.Name), ", "...)
	}
	if rows {
		return fmt.Appendf(request, `"instances": [%s]}`, value), nil
	}
	return fmt.Appendf(request, `"inputs": %s}`, value), nil
}

// spent returns what is left of a number of values after one of a shape, less than 0 if there are not so many.
func spent(left int, shape []int) int {
	n := 1
	for _, d := range shape {
		if n *= max(1, d); n > maxSample {
			return -1
		}
	}
	return left - n
}

// zeros are values of each type.
var zeros = map[tfpb.DataType]string{tfpb.DataType_DT_FLOAT: "0.0", tfpb.DataType_DT_DOUBLE: "0.0", tfpb.DataType_DT_INT32: "0",
	tfpb.DataType_DT_INT64: "0", tfpb.DataType_DT_BOOL: "false", tfpb.DataType_DT_STRING: `""`}

// appendZeros appends a value of a shape. A dimension that may have any size has 1.
func appendZeros(dst []byte, zero string, shape []int) []byte {
	if len(shape) == 0 {
		return append(dst, zero...)
	}
	n := shape[0]
	if n < 0 {
		n = 1
	}
	return appendItems(dst, "[]", n, func(dst []byte, _ int) []byte { return appendZeros(dst, zero, shape[1:]) })
}

// featureOf returns the value of a feature: that of like, if it has one, else zeros.
func featureOf(f interpreter.Feature, like *tfpb.Feature) []byte {
	t := &interpreter.Tensor{Type: f.Type, Float32: like.GetFloatList().GetValue(), Int64: like.GetInt64List().GetValue(), Bytes: like.GetBytesList().GetValue()}
	n := len(t.Float32) + len(t.Int64) + len(t.Bytes)
	if n == 0 {
		return appendZeros(nil, zeros[f.Type], f.Shape)
	}
	if n > 1 || len(f.Shape) > 0 {
		t.Shape = []int{n}
	}
	return appendTensor(nil, "", t, 0, new(int))
}

// About is how to ask a model.
type About struct {
	Signature string   // that is asked
	Examples  bool     // it takes tf.Examples, or rows of their features
	Columns   []Column // the features, or the inputs
	Request   []byte   // JSON that the model answers
	Curl      string   // the line of a shell that sends the request; "" without a server
}

// Column is a feature of the tf.Examples that a signature takes, or one of its inputs.
type Column struct {
	Name     string          `json:"feature"`
	Type     string          `json:"dtype"`
	Shape    []int           `json:"shape"`
	Form     string          `json:"form"`              // of a feature: dense, sparse or ragged
	Default  json.RawMessage `json:"default,omitempty"` // in the place of a missing one
	Required bool            `json:"required,omitempty"`
}

// AboutOf returns how to ask a model by a server, as http://127.0.0.1:8501. The request is like the first of those
// by which a server warms the model, if there are any.
func AboutOf(server, name string, m *interpreter.Model) (About, error) {
	s := Usual(m)
	if s == nil {
		return About{}, fmt.Errorf("the model %s has no signature with inputs", phrase.Name(name))
	}
	request, err := Sample(s, warmExample(m.Path))
	if err != nil {
		return About{}, err
	}
	a := About{Signature: s.Name, Examples: TakesExamples(s), Request: request, Curl: curl(server, name, request)}
	for _, f := range s.Features {
		c := Column{f.Name, typeName(f.Type), append([]int{}, f.Shape...), string(f.Kind), nil, required(f)}
		if f.Default != nil {
			c.Default = Strict(appendTensor(nil, "", f.Default, 0, new(int)))
		}
		a.Columns = append(a.Columns, c)
	}
	if !a.Examples {
		for _, p := range s.Inputs {
			a.Columns = append(a.Columns, Column{Name: p.Key, Type: typeName(p.Type), Shape: p.Shape, Required: true})
		}
	}
	return a, nil
}

// Text describes the column for people, with tabs between: float32, dense, default 0.0.
func (c Column) Text() string {
	text := c.Type
	if len(c.Shape) > 0 {
		text += strings.ReplaceAll(fmt.Sprint(c.Shape), " ", ", ")
	}
	switch {
	case c.Form == "":
		return text
	case c.Required:
		return text + "\t" + c.Form + "\trequired"
	case c.Default == nil:
		return text + "\t" + c.Form + "\tmay be empty"
	}
	value := string(c.Default)
	if c.Type != "string" {
		value = strings.Trim(value, `"`) // of NaN
	}
	return text + "\t" + c.Form + "\tdefault " + value
}

// Strict returns JSON as it is, and what JSON does not know, as NaN, as a text.
func Strict(text []byte) json.RawMessage {
	if json.Valid(text) {
		return text
	}
	return appendText(nil, view(text))
}

func typeName(t tfpb.DataType) string { return bundle.DType(t).String() }

// required reports whether a request must have a feature.
func required(f interpreter.Feature) bool {
	return f.Kind == interpreter.Dense && f.Default == nil && (len(f.Shape) == 0 || f.Shape[0] >= 0)
}

// warmExample returns the example of the first request in the warm-up file of a version, nil if there is none.
func warmExample(path string) *tfpb.Example {
	name := filepath.Join(path, "assets.extra", "tf_serving_warmup_requests")
	f, err := bundle.OpenFile(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := tfrecord.NewReader(f, name).Next()
	var log servingpb.PredictionLog
	if err != nil || proto.Unmarshal(data, &log) != nil {
		return nil
	}
	for _, in := range log.GetPredictLog().GetRequest().GetInputs() {
		var e tfpb.Example
		if texts := in.GetStringVal(); len(texts) > 0 && proto.Unmarshal(texts[0], &e) == nil {
			return &e
		}
	}
	return nil
}

// curl returns the line of a shell that sends a request to a model. A long request comes from the server.
func curl(server, model string, request []byte) string {
	const maxLine = 600 // bytes of a request
	if server == "" {
		return ""
	}
	// A folder may have any name, and a shell takes no & or $ and a path no : in one.
	to := server + "/v1/models/" + strings.ReplaceAll(url.QueryEscape(model), "+", "%20")
	if len(request) > maxLine {
		return fmt.Sprintf("curl -s %s/example | curl -s -d @- %s:predict", to, to)
	}
	return fmt.Sprintf("curl -s %s:predict -d '%s'", to, strings.ReplaceAll(string(request), "'", `'\''`))
}
