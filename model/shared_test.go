package model

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/model/graph"
	"ringtrain/model/tensor"
)

// golden decodes numbers of TensorFlow into v.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "layers", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

// place allocates the variables of m and sets random values.
func place(m *Model, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	for _, v := range m.Variables() {
		v.Value = make([]float32, v.Len())
		placeGrad(v)
		fill(r, v.Value)
	}
}

// placeGrad allocates the gradient of v; for a table it has space for all rows.
func placeGrad(v *Variable) {
	v.Grad = make([]float32, v.Len())
	if v.ByRows {
		v.Grad, v.RowGrad, v.RowStride = nil, v.Grad, v.RowLen()
	}
}

// gradOf returns the gradient that Backward writes.
func gradOf(v *Variable) []float32 {
	if v.ByRows {
		return v.RowGrad
	}
	return v.Grad
}

func fill(r *rand.Rand, x []float32) {
	for i := range x {
		x[i] = float32(r.NormFloat64()) / 2
	}
}

// example is a model with the shape of its records: the number of ids, of fields if it
// is not 1, and of dense columns.
type example struct {
	Config
	shape graph.Shape
	loss  LossConfig
	ids   bool // the records have ids
}

// name returns the preset, or the name of the layers under test.
func (e example) name() string {
	if e.Kind == "" {
		var names []string
		for _, it := range e.items() {
			names = append(names, it.name)
		}
		return strings.Join(names, "-")
	}
	return string(e.Kind) + string(e.loss.Kind)
}

// inputs returns the features of the records.
func (e example) inputs() Inputs {
	if !e.ids && !e.ReadsIDs(MayHaveIDs) {
		return Inputs{Dense: e.shape}
	}
	s := append(append(graph.Shape{}, e.shape...), 1, 0)
	in := Inputs{IDs: s[0], Fields: s[1]}
	if s[2] > 0 && len(e.shape) > 2 {
		in.Dense = s[2:3]
	}
	return in
}

// columns returns the number of dense features of a record.
func (e example) columns() int {
	if d := e.inputs().Dense; len(d) > 0 {
		return d.Len()
	}
	return 0
}

// batch returns n random examples and labels for e.
func batch(e example, n int, seed uint64) (*tensor.Features, []float32) {
	r := rand.New(rand.NewPCG(seed, 11))
	x, y := &tensor.Features{}, make([]float32, n)
	if in := e.inputs(); in.IDs > 0 {
		x.Bags.Reset(in.Fields)
		for range n * in.Fields {
			for range r.IntN(5) { // may be 0; ids may repeat
				x.Bags.Add(uint32(r.IntN(in.IDs)), float32(r.NormFloat64()))
			}
			x.Bags.End()
		}
		x.Bags.Index()
	}
	if columns := e.columns(); columns > 0 {
		x.Dense.Resize(n, columns)
		fill(r, x.Dense.Data)
	}
	head := e.Head(e.loss)
	for i := range y {
		switch head.Kind {
		case graph.HeadRegression:
			y[i] = float32(r.NormFloat64())
		case graph.HeadClasses:
			y[i] = float32(r.IntN(head.Classes))
		case graph.HeadBinary:
			y[i] = float32(r.IntN(2))
		}
	}
	return x, y
}

// Small presets of dense records.
var (
	linearExample  = example{Config{Kind: "linear"}, graph.Shape{5}, LossConfig{}, false}
	softmaxExample = example{Config{Kind: "softmax", Classes: Count(4)}, graph.Shape{5}, LossConfig{}, false}
	mlpExample     = example{Config{Kind: "mlp", Classes: Count(3), Hidden: []int{6, 4}}, graph.Shape{5}, LossConfig{}, false}
	sparseExample  = example{Config{Kind: "sparse-linear"}, graph.Shape{7}, LossConfig{}, false}
)

// examples has a model of each preset of dense records, and of each layer but dropout.
var examples = []example{
	linearExample, softmaxExample, mlpExample, sparseExample,
	{Config{Kind: "linear"}, graph.Shape{5}, LossConfig{Kind: "sigmoid"}, false},
	{Config{Kind: "mlp", Hidden: []int{4}}, graph.Shape{5}, LossConfig{Kind: "squared"}, false},
	{Config{Kind: "mlp", Hidden: []int{4}}, graph.Shape{5}, LossConfig{Kind: "sigmoid"}, false},
	rows(Layer{Tanh: plain}), rows(Layer{Sigmoid: plain}), rows(Layer{GELU: plain}), rows(Layer{ReLU: plain}),
	rows(Layer{LeakyReLU: &LeakyReLULayer{}}), rows(Layer{LayerNorm: &LayerNormLayer{}}),
	rows(Layer{Name: "t", Tanh: plain}, Layer{In: []string{"t", "dense", "t"}, Add: plain}),
	rows(Layer{Name: "t", Tanh: plain}, Layer{In: []string{"dense", "t", "dense"}, Concat: plain}),
	rows(Layer{Name: "t", Tanh: plain}, Layer{Name: "r", In: []string{"dense"}, ReLU: plain}, Layer{In: []string{"r", "t"}, Add: plain}),
	images(convolution(2, 3, "valid", 1, "relu")), images(convolution(3, 2, "same", 2, "relu"), Layer{Tanh: plain}),
	images(convolution(2, 3, "same", 1, "tanh"), convolution(4, 3, "valid", 1, "sigmoid")),
	images(convolution(3, 3, "same", 1, ""), Layer{Name: "sum", In: []string{"conv2d", "norm"}, Add: plain}, Layer{Tanh: plain}),
	images(Layer{MaxPool2D: &PoolLayer{}}), images(Layer{MaxPool2D: &PoolLayer{PoolSize: []int{3, 2}, Strides: []int{2}, Padding: "same"}}),
	images(Layer{AvgPool2D: &PoolLayer{}}), images(Layer{AvgPool2D: &PoolLayer{PoolSize: []int{3}, Strides: []int{1, 2}, Padding: "same"}}),
	images(Layer{GlobalAvgPool: plain}), images(Layer{LayerNorm: &LayerNormLayer{}}, Layer{Tanh: plain}),
	rows(Layer{Cross: &CrossLayer{}}), rows(Layer{Name: "t", Tanh: plain}, Layer{In: []string{"dense", "t"}, Cross: &CrossLayer{}}),
	ofIDs(Config{Kind: "sparse-linear"}, LossConfig{Kind: "squared"}, 7, 2),
	ofIDs(Config{Kind: "sparse-linear", Classes: Count(3)}, LossConfig{Kind: "softmax"}, 7, 2, 3),
	ofIDs(Config{Kind: "linear"}, LossConfig{}, 7, 2, 3), ofIDs(Config{Kind: "softmax", Classes: Count(3)}, LossConfig{}, 7),
	ofIDs(Config{Kind: "mlp", Hidden: []int{4}, Activation: "tanh"}, LossConfig{Kind: "sigmoid"}, 7, 2),
	ofIDs(Config{Kind: "mlp", Hidden: []int{5, 4}, Activation: "leaky_relu", Classes: Count(3)}, LossConfig{}, 7, 2, 3),
	ofIDs(Config{Kind: "fm", Embedding: 4}, LossConfig{}, 7), ofIDs(Config{Kind: "fm"}, LossConfig{Kind: "squared"}, 9, 3, 2),
	ofIDs(Config{Kind: "fm", Embedding: 8, Classes: Count(3)}, LossConfig{Kind: "softmax"}, 7, 2),
	ofIDs(Config{Kind: "wide-deep", Hidden: []int{5, 4}, Pooling: "mean", Activation: "gelu"}, LossConfig{}, 9, 2),
	ofIDs(Config{Kind: "wide-deep", Hidden: []int{5}, Activation: "sigmoid", Classes: Count(3), Embedding: 3}, LossConfig{Kind: "softmax"}, 9, 3, 2),
	ofIDs(Config{Kind: "deepfm", Hidden: []int{5, 4}, Activation: "tanh"}, LossConfig{}, 9, 3),
	ofIDs(Config{Kind: "deepfm", Hidden: []int{5}, Activation: "sigmoid", Embedding: 2, Classes: Count(3), Pooling: "sqrtn"}, LossConfig{Kind: "softmax"}, 9, 2, 3),
	ofIDs(Config{Kind: "dcn", Hidden: []int{6}, Embedding: 4, Cross: 1, Activation: "tanh"}, LossConfig{Kind: "squared"}, 9, 2),
	ofIDs(Config{Kind: "dcn", Hidden: []int{6}, Embedding: 3, Activation: "tanh"}, LossConfig{}, 9, 2, 3),
	ofIDs(Config{Layers: []Layer{
		{Embedding: &EmbeddingLayer{Size: 3}}, {Name: "a", In: []string{"embedding"}, FM: &FMLayer{}}, {Name: "b", In: []string{"embedding"}, FM: &FMLayer{Units: 3}},
		{Name: "c", In: []string{"embedding", "a", "b"}, Concat: plain}, {Name: "all", In: []string{"input", "c"}, Concat: plain},
		{Name: "logits", Dense: &DenseLayer{Units: 3}},
	}}, LossConfig{}, 9, 2, 2),
}

// gradientExamples has examples and dropout, whose training passes differ from Predict.
var gradientExamples = append(examples, rows(Layer{Dropout: &DropoutLayer{Rate: 0.3}}))

// ofIDs returns a model of ids; shape as in example.
func ofIDs(c Config, l LossConfig, shape ...int) example { return example{c, shape, l, true} }

var plain = &PlainLayer{}

func convolution(filters, size int, padding string, stride int, activation Activation) Layer {
	return Layer{Conv2D: &Conv2DLayer{Filters: filters, Kernel: []int{size, 2}, Padding: padding, Strides: []int{stride, 1}, Activation: activation}}
}

// rows returns a model with layers between two dense ones.
func rows(layers ...Layer) example {
	l := append([]Layer{{Dense: &DenseLayer{Units: 6}}}, layers...)
	return example{Config{Layers: append(l, Layer{Name: "logits", Dense: &DenseLayer{Units: 3}})}, graph.Shape{5}, LossConfig{}, false}
}

// images returns a model with image layers after a normalization, so that a gradient
// passes through them.
func images(layers ...Layer) example {
	l := append([]Layer{{Name: "norm", LayerNorm: &LayerNormLayer{}}}, layers...)
	if layers[len(layers)-1].GlobalAvgPool == nil {
		l = append(l, Layer{Flatten: plain})
	}
	return example{Config{Layers: append(l, Layer{Name: "logits", Dense: &DenseLayer{Units: 3}})}, graph.Shape{5, 4, 3}, LossConfig{}, false}
}

func build(t testing.TB, e example) *Model {
	t.Helper()
	g, err := e.GraphOf(e.inputs(), e.loss)
	if err != nil {
		t.Fatal(err)
	}
	return New(g)
}
