package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/interpreter"
	"ringtrain/export/savedmodel/interop"
	"ringtrain/export/tfpb"
)

// A value is a tensor as answer_requests.py reads and writes it; texts are in base64.
type value struct {
	Type   string `json:"type"`
	Shape  []int  `json:"shape"`
	Values []any  `json:"values"`
}

// A question is a request to one signature.
type question struct {
	Signature string           `json:"signature"`
	Inputs    map[string]value `json:"inputs"`
	what      string
}

// An answer has the outputs, or an error.
type answer struct {
	Outputs map[string]value
	Error   string
}

// exported is a model that all readers of an export answer.
type exported struct {
	name string
	args []string // of train; empty: the model of somebody else
	file string   // a job file; empty: the first of args is built in
	ids  int      // the records have lists of ids, below this
}

// columnsJob has every kind of column, and one column read in each way.
const columnsJob = `
model: {kind: linear}
input:
  train: {format: csv, files: [train.csv], header: true}
  columns:
    - key: {names: [id]}
    - label: {names: [y]}
    - numeric: {names: [age], standardize: true, default: mean}
    - numeric: {names: [income], transform: log1p, strip: "$", default: 3}
    - numeric: {names: [hour], standardize: true}
    - {name: part, numeric: {names: [hour], buckets: [6, 12, 18]}}
    - {name: hours, categorical: {names: [hour], hash: 30}}
    - categorical: {names: [city], vocabulary: auto, min_count: 2}
    - categorical: {names: [site], hash: 50}
    - categorical: {names: [tags], separator: "|", vocabulary: auto}
    - time: {names: [signup], layout: auto, parts: [days, month, weekday, year, day, hour]}
    - text: {names: [review], hash: 60, lower: true, ngrams: 2}
    - {cross: {of: [city, hour], hash: 100}}
  batch: 16
optimizer: {name: adagrad, learning_rate: 0.1}
train: {steps: 20, seed: 1}
export: {if: always}
`

// cells draws a cell of a column, "" for one that is missing.
var cells = map[string]func(r *rand.Rand) string{
	"age":    func(r *rand.Rand) string { return strconv.Itoa(r.IntN(90)) },
	"income": func(r *rand.Rand) string { return fmt.Sprintf("$%.2f", 1e5*r.Float64()) },
	"hour":   func(r *rand.Rand) string { return strconv.Itoa(r.IntN(24)) },
	"city":   func(r *rand.Rand) string { return []string{"Bern", "Basel", "Zürich", "", "Genève"}[r.IntN(5)] },
	"site":   func(r *rand.Rand) string { return "s" + strconv.Itoa(r.IntN(80)) },
	"tags":   func(r *rand.Rand) string { return []string{"new|old", "old", "", "used|new|old", "odd"}[r.IntN(5)] },
	"signup": func(r *rand.Rand) string {
		return fmt.Sprintf("20%02d-%02d-%02d", r.IntN(30), 1+r.IntN(12), 1+r.IntN(28))
	},
	"review": func(r *rand.Rand) string {
		return []string{"Good, it IS good!", "not so good", "", "größe 7 über alles"}[r.IntN(4)]
	},
	"id": func(r *rand.Rand) string { return "r" + strconv.Itoa(r.IntN(1000)) },
}

// exports returns every kind of model.
func exports() []exported {
	digits := func(name string, set ...string) exported {
		args := []string{"mnist", "--set", "input.synthetic=true", "--set", "train.steps=5", "--set", "export.if=always"}
		for _, s := range set {
			args = append(args, "--set", s)
		}
		return exported{name: name, args: args}
	}
	clicks := func(name string, set ...string) exported {
		m := digits(name, set...)
		m.args[0], m.ids = "ctr", 123
		return m
	}
	all := []exported{
		{name: "linear", args: []string{"linear", "--set", "train.steps=5", "--set", "export.savedmodel=export/linear", "--set", "export.if=always"}},
		digits("softmax"), digits("mlp", "model.kind=mlp", "model.hidden=[30,20]"), digits("lenet", "model.kind=lenet"),
		digits("cnn", "model.kind=cnn"), digits("cnn-small", "model.kind=cnn-small"),
		{name: "layers", file: strings.NewReplacer("HEAD", "layers", "residual", "layers", "{steps: 150}", "{steps: 3}").Replace(headedJob),
			args: []string{"layers.yaml", "--set", "input.synthetic=true", "--set", "export.if=always"}},
		clicks("ids-linear"), clicks("ids-fm", "model.kind=fm"),
		clicks("ids-wide-deep", "model.kind=wide-deep", "model.hidden=[8]"), clicks("ids-deepfm", "model.kind=deepfm", "model.hidden=[8]"),
		clicks("ids-dcn", "model.kind=dcn", "model.hidden=[8]"),
	}
	for kind, more := range map[string]string{"linear": "", "mlp": ", hidden: [8]", "fm": ", embedding: 4", "wide-deep": ", embedding: 4, hidden: [8]",
		"deepfm": ", embedding: 4, hidden: [8]", "dcn": ", embedding: 4, hidden: [8]", "softmax": ""} {
		name := "columns-" + kind
		all = append(all, exported{name: name, args: []string{name + ".yaml", "--data", "."},
			file: "name: " + name + strings.Replace(columnsJob, "{kind: linear}", "{kind: "+kind+more+", classes: auto}", 1)})
	}
	file := strings.Replace(columnsJob, "label: {names: [y]}", "label: {names: [price], standardize: true, transform: log1p}", 1)
	all = append(all, exported{name: "columns-price", args: []string{"columns-price.yaml", "--data", "."}, file: "name: columns-price" + file})
	slices.SortFunc(all, func(a, b exported) int { return strings.Compare(a.name, b.name) })
	return all
}

// columnsTable returns the records of columnsJob as CSV.
func columnsTable(r *rand.Rand) string {
	var text strings.Builder
	text.WriteString("id,y,price,age,income,hour,city,site,tags,signup,review\n")
	for i := range 300 {
		fmt.Fprintf(&text, "r%d,%s,%d", i, []string{"no", "yes"}[i%2], 1000+i*i)
		for _, name := range []string{"age", "income", "hour", "city", "site", "tags", "signup", "review"} {
			fmt.Fprintf(&text, ",%q", cells[name](r))
		}
		text.WriteString("\n")
	}
	return text.String()
}

// train writes the export of a model into the folder models of the box.
func (b *box) exportModel(m exported) {
	b.Helper()
	if m.file != "" {
		b.write(m.name+".yaml", m.file)
	}
	b.must(0, append([]string{"train"}, append(m.args, "--set", "checkpoint.dir=", "--set", "export.savedmodel=models/"+m.name)...)...)
}

// asking draws requests to a model.
type asking struct {
	*testing.T
	r     *rand.Rand
	model *interpreter.Model
	ids   int
}

// example draws a record. without is a feature that it lacks; oddID gives it an id out of range.
func (a *asking) example(features []interpreter.Feature, without string, oddID bool) []byte {
	e := &tfpb.Example{Features: &tfpb.Features{Feature: map[string]*tfpb.Feature{}}}
	n := a.r.IntN(5)
	for _, f := range features {
		if f.Name != without {
			e.Features.Feature[f.Name] = a.feature(f, n, oddID)
		}
	}
	raw, err := proto.Marshal(e)
	if err != nil {
		a.Fatal(err)
	}
	return raw
}

// feature draws a feature. Lists of one record have n values.
func (a *asking) feature(f interpreter.Feature, n int, oddID bool) *tfpb.Feature {
	if f.Kind == interpreter.Dense {
		n = interpreter.Elements(f.Shape)
		if n < 0 {
			n = a.r.IntN(4)
		}
	} else if cells[f.Name] != nil {
		n = a.r.IntN(2)
	}
	switch f.Type {
	case tfpb.DataType_DT_STRING:
		list := &tfpb.BytesList{}
		for range n {
			cell := "?"
			if draw := cells[f.Name]; draw != nil {
				cell = draw(a.r)
			}
			list.Value = append(list.Value, []byte(cell))
		}
		return &tfpb.Feature{Kind: &tfpb.Feature_BytesList{BytesList: list}}
	case tfpb.DataType_DT_INT64:
		list := &tfpb.Int64List{}
		for range n {
			list.Value = append(list.Value, int64(a.r.IntN(max(a.ids, 4))))
		}
		if oddID {
			for i := range list.Value {
				list.Value[i] = 1 << 40
			}
		}
		return &tfpb.Feature{Kind: &tfpb.Feature_Int64List{Int64List: list}}
	}
	list := &tfpb.FloatList{}
	for range n {
		list.Value = append(list.Value, float32(a.r.NormFloat64()))
	}
	return &tfpb.Feature{Kind: &tfpb.Feature_FloatList{FloatList: list}}
}

// examples returns an input of n examples.
func (a *asking) examples(key string, n int, each func(i int) []byte) map[string]value {
	v := value{Type: "string", Shape: []int{n}, Values: []any{}}
	for i := range n {
		v.Values = append(v.Values, base64.StdEncoding.EncodeToString(each(i)))
	}
	return map[string]value{key: v}
}

// lists returns the inputs of predict_sparse for n records.
func (a *asking) lists(s interpreter.Signature, n int) map[string]value {
	indices, ids, fields := value{Type: "int64", Values: []any{}}, value{Type: "int64", Values: []any{}}, value{Type: "int64", Values: []any{}}
	values := value{Type: "float32", Values: []any{}}
	for row := range n {
		for k := range (row + 1) % 4 { // JSON cannot say that an empty list has shape [0 2]
			indices.Values = append(indices.Values, row, k)
			ids.Values = append(ids.Values, a.r.IntN(max(a.ids, 4)))
			values.Values = append(values.Values, float32(a.r.NormFloat64()))
			fields.Values = append(fields.Values, 0)
		}
	}
	count := len(ids.Values)
	indices.Shape, ids.Shape, values.Shape, fields.Shape = []int{count, 2}, []int{count}, []int{count}, []int{count}
	all := map[string]value{"indices": indices, "ids": ids, "values": values, "fields": fields,
		"shape": {Type: "int64", Shape: []int{2}, Values: []any{n, 4}}}
	inputs := a.tensors(s, n)
	for _, p := range s.Inputs {
		if v, ok := all[p.Key]; ok {
			inputs[p.Key] = v
		}
	}
	return inputs
}

// tensors returns n records of tensors for the inputs of a signature.
func (a *asking) tensors(s interpreter.Signature, n int) map[string]value {
	inputs := map[string]value{}
	for _, p := range s.Inputs {
		v := value{Type: typeName(p.Type), Shape: slices.Clone(p.Shape), Values: []any{}}
		if len(v.Shape) == 0 { // the signature of saved_model_half_plus_three has another shape than its graph
			v.Shape = []int{-1, 1}
		}
		for i, d := range v.Shape {
			if d < 0 {
				v.Shape[i] = n
			}
		}
		for range interpreter.Elements(v.Shape) {
			switch p.Type {
			case tfpb.DataType_DT_INT32, tfpb.DataType_DT_INT64:
				v.Values = append(v.Values, a.r.IntN(4))
			case tfpb.DataType_DT_STRING:
				v.Values = append(v.Values, base64.StdEncoding.EncodeToString([]byte("?")))
			default:
				v.Values = append(v.Values, float32(a.r.NormFloat64()))
			}
		}
		inputs[p.Key] = v
	}
	return inputs
}

func typeName(t tfpb.DataType) string {
	switch t {
	case tfpb.DataType_DT_FLOAT:
		return "float32"
	case tfpb.DataType_DT_DOUBLE:
		return "float64"
	}
	return strings.ToLower(strings.TrimPrefix(t.String(), "DT_"))
}

// questions draws 1, 33 and 1,000 records for each signature; of records as tf.Examples the last of 33 is
// empty, each feature is missing once, and an id is out of range.
func (a *asking) questions() (all []question) {
	for _, s := range a.model.Signatures {
		ask := func(what string, inputs map[string]value) {
			all = append(all, question{s.Name, inputs, s.Name + " " + what})
		}
		for _, n := range []int{1, 33, 1000} {
			what := fmt.Sprintf("records=%d", n)
			switch {
			case s.Features != nil:
				ask(what, a.examples(s.Inputs[0].Key, n, func(i int) []byte {
					if n == 33 && i == 32 {
						return nil
					}
					return a.example(s.Features, "", false)
				}))
			case s.Name == "predict_sparse":
				ask(what, a.lists(s, n))
			default:
				ask(what, a.tensors(s, n))
			}
		}
		for _, f := range s.Features {
			ask("without="+f.Name, a.examples(s.Inputs[0].Key, 3, func(int) []byte { return a.example(s.Features, f.Name, false) }))
			if f.Type == tfpb.DataType_DT_INT64 {
				ask("id out of range", a.examples(s.Inputs[0].Key, 3, func(int) []byte { return a.example(s.Features, "", true) }))
			}
		}
	}
	return all
}

// run returns the interpreter's answer.
func (a *asking) run(q question) answer {
	p, err := a.model.Compile(q.Signature, nil)
	if err != nil {
		return answer{Error: err.Error()}
	}
	var inputs []*interpreter.Tensor
	for _, port := range p.Inputs {
		inputs = append(inputs, q.Inputs[port.Key].tensor(a.T))
	}
	outputs, err := p.Run(inputs)
	if err != nil {
		return answer{Error: err.Error()}
	}
	out := answer{Outputs: map[string]value{}}
	for i, port := range p.Outputs {
		out.Outputs[port.Key] = valueOf(outputs[i])
	}
	return out
}

func (v value) tensor(t *testing.T) *interpreter.Tensor {
	x := &interpreter.Tensor{Shape: v.Shape}
	for _, e := range v.Values {
		var f float64
		switch e := e.(type) {
		case string:
			raw, err := base64.StdEncoding.DecodeString(e)
			if err != nil {
				t.Fatal(err)
			}
			x.Bytes = append(x.Bytes, raw)
		case int:
			f = float64(e)
		case float32:
			f = float64(e)
		case float64:
			f = e
		}
		switch v.Type {
		case "float32":
			x.Float32 = append(x.Float32, float32(f))
		case "float64":
			x.Float64 = append(x.Float64, f)
		case "int32":
			x.Int32 = append(x.Int32, int32(f))
		case "int64":
			x.Int64 = append(x.Int64, int64(f))
		}
	}
	types := []tfpb.DataType{tfpb.DataType_DT_FLOAT, tfpb.DataType_DT_DOUBLE, tfpb.DataType_DT_INT32, tfpb.DataType_DT_INT64, tfpb.DataType_DT_STRING}
	x.Type = types[slices.IndexFunc(types, func(d tfpb.DataType) bool { return typeName(d) == v.Type })]
	return x
}

func valueOf(t *interpreter.Tensor) value {
	v := value{Type: typeName(t.Type), Shape: slices.Clone(t.Shape)}
	for _, x := range t.Float32 {
		v.Values = append(v.Values, float64(x))
	}
	for _, x := range t.Float64 {
		v.Values = append(v.Values, x)
	}
	for _, x := range t.Int32 {
		v.Values = append(v.Values, float64(x))
	}
	for _, x := range t.Int64 {
		v.Values = append(v.Values, float64(x))
	}
	for _, x := range t.Bytes {
		v.Values = append(v.Values, base64.StdEncoding.EncodeToString(x))
	}
	return v
}

// nested returns the values as lists in lists, as REST has them.
func (v value) nested() any {
	values := v.Values
	if v.Type == "string" {
		values = nil
		for _, text := range v.Values {
			values = append(values, map[string]any{"b64": text})
		}
	}
	for d := len(v.Shape) - 1; d >= 0; d-- {
		size, outer := v.Shape[d], interpreter.Elements(v.Shape[:d])
		rows := make([]any, outer)
		for i := range rows {
			rows[i] = append([]any{}, values[i*size:(i+1)*size]...)
		}
		values = rows
	}
	return values[0]
}

// flat appends the values of lists in lists.
func flat(dst []any, nested any) []any {
	list, ok := nested.([]any)
	if !ok {
		if text, ok := nested.(string); ok {
			nested = base64.StdEncoding.EncodeToString([]byte(text))
		}
		return append(dst, nested)
	}
	for _, v := range list {
		dst = flat(dst, v)
	}
	return dst
}

// curl asks by REST, in columns.
func (b *box) curl(t *testing.T, url, name string, q question) answer {
	t.Helper()
	inputs := map[string]any{}
	for key, v := range q.Inputs {
		inputs[key] = v.nested()
	}
	body, err := json.Marshal(map[string]any{"signature_name": q.Signature, "inputs": inputs})
	if err != nil {
		t.Fatal(err)
	}
	b.write("body.json", string(body))
	out, err := exec.Command("curl", "-sS", "--data-binary", "@"+b.path("body.json"), url+"/v1/models/"+name+":predict").Output()
	if err != nil {
		t.Fatalf("curl: %v", err)
	}
	var reply struct {
		Outputs any
		Error   string
	}
	if err := json.Unmarshal(out, &reply); err != nil {
		t.Fatalf("%s: %v: %.200s", q.what, err, out)
	}
	if reply.Error != "" {
		return answer{Error: reply.Error}
	}
	outputs, ok := reply.Outputs.(map[string]any)
	if !ok {
		outputs = map[string]any{"": reply.Outputs}
	}
	a := answer{Outputs: map[string]value{}}
	for key, v := range outputs {
		a.Outputs[key] = value{Values: flat(nil, v)}
	}
	return a
}

// difference returns the largest difference of two answers, infinite if they are no answers to the same
// question. A single output may have no name.
func (a answer) difference(got answer) float64 {
	if a.Error != "" || got.Error != "" || len(a.Outputs) != len(got.Outputs) {
		if a.Error != "" && got.Error != "" {
			return 0
		}
		return math.Inf(1)
	}
	worst := 0.0
	for key, w := range a.Outputs {
		g, ok := got.Outputs[key]
		if !ok && len(a.Outputs) == 1 {
			g = got.Outputs[""]
		}
		if len(g.Values) != len(w.Values) || g.Shape != nil && !slices.Equal(g.Shape, w.Shape) {
			return math.Inf(1)
		}
		for i, x := range w.Values {
			y := g.Values[i]
			p, isNumber := x.(float64)
			q, both := y.(float64)
			switch {
			case isNumber && both:
				worst = max(worst, math.Abs(p-q)/max(1, math.Abs(p)))
			case !reflect.DeepEqual(x, y):
				return math.Inf(1)
			}
		}
	}
	return worst
}

// foreign are TensorFlow Serving's own test models.
var foreign = []string{"matrix_half_plus_two", "saved_model_half_plus_three", "saved_model_half_plus_two_2_versions", "saved_model_half_plus_two_cpu",
	"saved_model_half_plus_two_cpu_with_saved_model_config", "saved_model_half_plus_two_tf2_cpu"}

// TestInteropAnswers verifies that every reader gives the same answers: of the export of each kind of model and of
// column, of TensorFlow Serving's own test models, and of six models of Keras. The readers are both of TensorFlow's
// loaders, the interpreter, REST by curl, and gRPC by TensorFlow Serving's client. It prints the largest differences.
func TestInteropAnswers(t *testing.T) {
	tf := interop.Start(t)
	b := newBox(t).lasting(5 * time.Minute)
	r := rand.New(rand.NewPCG(33, 1))
	b.write("train.csv", columnsTable(r))
	all := exports()
	for _, m := range all {
		b.exportModel(m)
	}
	for _, name := range foreign {
		if err := os.CopyFS(b.path("models", name), os.DirFS(filepath.Join("..", "..", "export", "testdata", "serving", name))); err != nil {
			t.Fatal(err)
		}
		all = append(all, exported{name: name})
	}
	tf.Run(t, b.dir, "make_keras.py", "models")
	for _, name := range []string{"dense", "conv", "depthwise", "embedding", "wide_and_deep", "text_vocabulary"} {
		all = append(all, exported{name: name})
	}
	questions := map[string][]question{}
	models := map[string]*asking{}
	for _, m := range all {
		a := &asking{T: t, r: r, ids: m.ids, model: openNewest(t, b.path("models", m.name))}
		models[m.name] = a
		if text, err := os.ReadFile(b.path("models", m.name+".json")); err == nil { // of Keras
			var asked struct{ Cases []question }
			if err := json.Unmarshal(text, &asked); err != nil {
				t.Fatal(err)
			}
			questions[m.name] = asked.Cases
			continue
		}
		questions[m.name] = a.questions()
		text, err := json.Marshal(map[string]any{"cases": questions[m.name]})
		if err != nil {
			t.Fatal(err)
		}
		b.write("models/"+m.name+".json", string(text))
	}
	server := b.start("serve", "models", "--listen", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--max-body", "256MiB")
	rest, grpc := server.address("REST on "), server.address("gRPC on ")
	eventually(b, patience, "the server is ready", func() bool {
		return exec.Command("curl", "-sSf", "http://"+rest+"/readyz").Run() == nil
	})
	t.Log(tf.Run(t, b.dir, "answer_requests.py", "models", "--grpc", grpc))
	for _, m := range all {
		t.Run("model="+m.name, func(t *testing.T) {
			var theirs map[string][]answer
			if err := json.Unmarshal([]byte(b.read("models", m.name+".answers.json")), &theirs); err != nil {
				t.Fatal(err)
			}
			worst := map[string]float64{}
			refused := 0
			for i, q := range questions[m.name] {
				ways := map[string]answer{"interpreter": models[m.name].run(q), "REST": b.curl(t, "http://"+rest, m.name, q)}
				for way, answers := range theirs {
					ways[way] = answers[i]
				}
				want, ok := ways["v1"]
				if !ok {
					want = ways["v2"]
				}
				if want.Error != "" {
					refused++
				}
				for way, got := range ways {
					d := want.difference(got)
					worst[way] = max(worst[way], d)
					if !(d <= 1e-5) {
						t.Errorf("%s: %s differs from TensorFlow's loader by %g; errors %q and %q", q.what, way, d, want.Error, got.Error)
					}
				}
			}
			t.Logf("%d requests, %d refused by all; V2 %.1e, interpreter %.1e, REST %.1e, gRPC %.1e", len(questions[m.name]), refused,
				worst["v2"], worst["interpreter"], worst["REST"], worst["grpc"])
		})
	}
}

// openNewest opens the highest version of a model.
func openNewest(t *testing.T, base string) *interpreter.Model {
	t.Helper()
	entries, err := os.ReadDir(base)
	if err != nil {
		t.Fatal(err)
	}
	newest, number := "", -1
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > number {
			newest, number = e.Name(), n
		}
	}
	m, err := interpreter.Open(filepath.Join(base, newest))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// address returns the address that a server prints behind text.
func (p *testProcess) address(text string) string {
	p.t.Helper()
	p.await(text)
	_, rest, _ := strings.Cut(p.stdout.String(), text)
	address, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(address)
}
