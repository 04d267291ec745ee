package savedmodel

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/export/savedmodel/interop"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/tensor"
)

// kind is a model and the shape of its records: the number of ids, that of fields if it
// is not 1, and that of the dense columns.
type kind struct {
	model.Config
	shape graph.Shape
	loss  string
}

// readsIDs reports whether the records have ids: those of a linear model or an mlp do if the shape has fields.
func (k kind) readsIDs() bool {
	if len(k.shape) > 1 {
		return k.ReadsIDs(model.HaveIDs)
	}
	return k.ReadsIDs(model.MayHaveIDs)
}

// inputs returns the features of the records.
func (k kind) inputs() model.Inputs {
	if !k.readsIDs() {
		return model.Inputs{Dense: k.shape}
	}
	in := model.Inputs{IDs: k.shape[0], Fields: 1}
	if len(k.shape) > 1 {
		in.Fields = k.shape[1]
	}
	if len(k.shape) > 2 {
		in.Dense = k.shape[2:]
	}
	return in
}

// kinds returns all kinds of models, small ones, some large enough for Fill, and one
// with every layer.
func kinds() map[string]kind {
	return map[string]kind{
		"linear":         {model.Config{Kind: "linear"}, graph.Shape{3}, ""},
		"linear-sigmoid": {model.Config{Kind: "linear"}, graph.Shape{3}, "sigmoid"},
		"softmax":        {model.Config{Kind: "softmax", Classes: model.Count(10)}, graph.Shape{784}, ""},
		"mlp":            {model.Config{Kind: "mlp", Classes: model.Count(4), Hidden: []int{250, 20}, Activation: "gelu"}, graph.Shape{300}, ""},
		"mlp-squared":    {model.Config{Kind: "mlp", Hidden: []int{20}, Activation: "leaky_relu"}, graph.Shape{30}, "squared"},
		"mlp-sigmoid":    {model.Config{Kind: "mlp", Hidden: []int{20}}, graph.Shape{30}, "sigmoid"},
		"linear-both":    {model.Config{Kind: "linear"}, graph.Shape{50, 2, 3}, "squared"},
		"mlp-ids":        {model.Config{Kind: "mlp", Hidden: []int{20}, Activation: "leaky_relu"}, graph.Shape{50, 1}, "sigmoid"},
		"mlp-both":       {model.Config{Kind: "mlp", Hidden: []int{20, 10}, Classes: model.Count(3)}, graph.Shape{50, 2, 3}, "softmax"},
		"lenet":          {model.Config{Kind: "lenet", Classes: model.Count(10)}, graph.Shape{28, 28, 1}, ""},
		"cnn":            {model.Config{Kind: "cnn", Classes: model.Count(10)}, graph.Shape{28, 28, 1}, ""},
		"cnn-small":      {model.Config{Kind: "cnn-small", Classes: model.Count(10)}, graph.Shape{28, 28, 1}, ""},
		"layers":         {model.Config{Layers: everyLayer()}, graph.Shape{7, 6, 2}, ""},
		"sparse-linear":  {model.Config{Kind: "sparse-linear"}, graph.Shape{70000}, ""},
		"sparse-squared": {model.Config{Kind: "sparse-linear"}, graph.Shape{50, 2, 3}, "squared"},
		"fm":             {model.Config{Kind: "fm"}, graph.Shape{9000}, ""},
		"fm-columns":     {model.Config{Kind: "fm", Embedding: 5}, graph.Shape{50, 4, 3}, ""},
		"fm-classes":     {model.Config{Kind: "fm", Embedding: 4, Classes: model.Count(3)}, graph.Shape{50}, "softmax"},
		"wide-deep":      {model.Config{Kind: "wide-deep", Hidden: []int{20, 10}}, graph.Shape{50}, ""},
		"wide-deep-mean": {model.Config{Kind: "wide-deep", Hidden: []int{20}, Pooling: "mean", Classes: model.Count(3)}, graph.Shape{50, 3, 4}, "softmax"},
		"deepfm":         {model.Config{Kind: "deepfm", Hidden: []int{20, 10}}, graph.Shape{50, 3, 2}, ""},
		"deepfm-sqrtn":   {model.Config{Kind: "deepfm", Hidden: []int{20}, Pooling: "sqrtn"}, graph.Shape{50, 3}, "squared"},
		"deepfm-classes": {model.Config{Kind: "deepfm", Hidden: []int{20}, Embedding: 3, Classes: model.Count(4)}, graph.Shape{50}, "softmax"},
		"dcn":            {model.Config{Kind: "dcn", Hidden: []int{20}, Cross: 3}, graph.Shape{50, 3, 2}, ""},
		"dcn-one-field":  {model.Config{Kind: "dcn", Hidden: []int{20}}, graph.Shape{50}, ""},
	}
}

// newModel returns a model with random values.
func newModel(t *testing.T, k kind, rng *rand.Rand) *model.Model {
	t.Helper()
	g, err := k.GraphOf(k.inputs(), model.LossConfig{Kind: model.Loss(k.loss)})
	if err != nil {
		t.Fatal(err)
	}
	if k.loss == "squared" {
		g.Head.Scale = logScale
	}
	m := model.New(g)
	for _, v := range m.Variables() {
		v.Value = make([]float32, v.Len())
		for i := range v.Value {
			v.Value[i] = float32(rng.NormFloat64()) / 8
		}
	}
	return m
}

// variables returns the variables for Write.
func variables(m *model.Model) []Variable {
	var vars []Variable
	for _, v := range m.Variables() {
		vars = append(vars, Variable{v.Name, v.Shape, v.Value})
	}
	return vars
}

// row is a record as the script reads it; nil lists are absent.
type row struct {
	X      []float32 `json:"x,omitempty"`
	IDs    []int64   `json:"ids"`
	Values []float32 `json:"values"`
	Fields []int64   `json:"fields"`
}

// draw returns n random records. Every third one and the last have no ids. Fields come
// in any order. Weights are above 0, so that a mean has a divisor.
func draw(c kind, n int, rng *rand.Rand) ([]row, *tensor.Features) {
	rows, in := make([]row, n), c.inputs()
	var x tensor.Features
	if len(in.Dense) > 0 {
		x.Dense.Resize(n, in.Dense.Len())
	}
	if c.readsIDs() {
		x.Bags.Reset(in.Fields)
	}
	for i := range rows {
		if len(in.Dense) > 0 {
			for j := range x.Dense.Row(i) {
				x.Dense.Row(i)[j] = rng.Float32()
			}
			rows[i].X = x.Dense.Row(i)
		}
		if c.readsIDs() {
			rows[i].draw(&x.Bags, in, i%3*5, rng)
		}
	}
	if c.readsIDs() {
		x.Bags.Index()
	}
	return rows, &x
}

// draw adds an example of n ids to b.
func (r *row) draw(b *tensor.Bags, in model.Inputs, n int, rng *rand.Rand) {
	r.IDs, r.Values = []int64{}, []float32{}
	if in.Fields > 1 {
		r.Fields = []int64{}
	}
	for range n {
		r.IDs = append(r.IDs, rng.Int64N(int64(in.IDs)))
		r.Values = append(r.Values, 0.2+rng.Float32())
		if in.Fields > 1 {
			r.Fields = append(r.Fields, rng.Int64N(int64(in.Fields)))
		}
	}
	for f := range in.Fields {
		for k, id := range r.IDs {
			if in.Fields == 1 || r.Fields[k] == int64(f) {
				b.Add(uint32(id), r.Values[k])
			}
		}
		b.End()
	}
}

// jsonLines writes one value a line.
func jsonLines[T any](t *testing.T, name string, values []T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e := json.NewEncoder(f)
	for _, v := range values {
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestTensorFlow verifies that both of TensorFlow's loaders give the model's scores by
// every signature, for an export of every kind of model. The last records are empty, and
// one batch of each kind of input is a single record.
func TestTensorFlow(t *testing.T) {
	tf := interop.Start(t)
	for kind, c := range kinds() {
		for _, n := range []int{34, 1} {
			t.Run(fmt.Sprintf("kind=%s/records=%d", kind, n), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, uint64(n)))
				m := newModel(t, c, rng)
				names := Names{Dense: "pixels", IDs: "features", Values: "weights", Fields: "slots"}
				path, err := Write(testDisk(), t.TempDir(), m.Graph(), Trained{Names: names, Step: 7, Variables: variables(m)}, nil)
				if err != nil {
					t.Fatal(err)
				}
				rows, x := draw(c, n, rng)
				type prediction struct {
					Record int       `json:"record"`
					Scores []float32 `json:"scores"`
				}
				var want []prediction
				scores := m.Predict(x)
				for i := range n {
					want = append(want, prediction{i, scores.Row(i)})
				}
				out := tf.Run(t, ".", "check_bundle.py", "rows", path,
					jsonLines(t, "rows", rows), "--predictions", jsonLines(t, "predictions", want),
					"--dense", names.Dense, "--ids", names.IDs, "--values", names.Values, "--fields", names.Fields)
				if !strings.Contains(out, `"step": 7,`) {
					t.Errorf("TensorFlow does not see step 7 in the bundle")
				}
				t.Log(out)
			})
		}
	}
}
