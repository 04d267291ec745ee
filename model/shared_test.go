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

// golden reads numbers of TensorFlow into v.
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

// place gives the variables of m memory and random values.
func place(m *Model, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	for _, v := range m.Variables() {
		v.Value, v.Grad = make([]float32, v.Len()), make([]float32, v.Len())
		fill(r, v.Value)
	}
}

func fill(r *rand.Rand, x []float32) {
	for i := range x {
		x[i] = float32(r.NormFloat64()) / 2
	}
}

// example is a model with the shape of its records.
type example struct {
	Config
	shape graph.Shape
	loss  LossConfig
}

// name is the preset, or what the layers show.
func (e example) name() string {
	if e.Kind == "" {
		return strings.Join(e.itemNames(), "-")
	}
	return e.Kind + e.loss.Kind
}

// batch draws n examples and labels that fit e.
func batch(e example, n int, seed uint64) (*tensor.Features, []float32) {
	r := rand.New(rand.NewPCG(seed, 11))
	x, y := &tensor.Features{}, make([]float32, n)
	if e.Sparse() {
		x.Bags.Reset(1)
		for range n {
			for range r.IntN(5) { // also none; ids may repeat
				x.Bags.Add(uint32(r.Int64N(int64(e.shape.Len()))), float32(r.NormFloat64()))
			}
			x.Bags.End()
		}
		x.Bags.Index()
	} else {
		x.Dense.Resize(n, e.shape.Len())
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

// The presets of rows, small.
var (
	linearExample  = example{Config{Kind: "linear"}, graph.Shape{5}, LossConfig{}}
	softmaxExample = example{Config{Kind: "softmax", Classes: 4}, graph.Shape{5}, LossConfig{}}
	mlpExample     = example{Config{Kind: "mlp", Classes: 3, Hidden: []int{6, 4}}, graph.Shape{5}, LossConfig{}}
	sparseExample  = example{Config{Kind: "sparse-linear"}, graph.Shape{7}, LossConfig{}}
)

// examples has a model of each preset of rows, and of each layer.
var examples = []example{
	linearExample, softmaxExample, mlpExample, sparseExample,
	{Config{Kind: "linear"}, graph.Shape{5}, LossConfig{Kind: "sigmoid"}},
	{Config{Kind: "mlp", Hidden: []int{4}}, graph.Shape{5}, LossConfig{Kind: "squared"}},
	{Config{Kind: "mlp", Hidden: []int{4}}, graph.Shape{5}, LossConfig{Kind: "sigmoid"}},
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
}

var plain = &PlainLayer{}

func convolution(filters, size int, padding string, stride int, activation string) Layer {
	return Layer{Conv2D: &Conv2DLayer{Filters: filters, Kernel: []int{size, 2}, Padding: padding, Strides: []int{stride, 1}, Activation: activation}}
}

// rows is a model with layers between two dense ones.
func rows(layers ...Layer) example {
	l := append([]Layer{{Dense: &DenseLayer{Units: 6}}}, layers...)
	return example{Config{Layers: append(l, Layer{Name: "logits", Dense: &DenseLayer{Units: 3}})}, graph.Shape{5}, LossConfig{}}
}

// images is a model with layers of images behind a normalization, so that a gradient goes
// through them.
func images(layers ...Layer) example {
	l := append([]Layer{{Name: "norm", LayerNorm: &LayerNormLayer{}}}, layers...)
	if layers[len(layers)-1].GlobalAvgPool == nil {
		l = append(l, Layer{Flatten: plain})
	}
	return example{Config{Layers: append(l, Layer{Name: "logits", Dense: &DenseLayer{Units: 3}})}, graph.Shape{5, 4, 3}, LossConfig{}}
}

func build(t testing.TB, e example) *Model {
	t.Helper()
	g, err := e.Graph(e.shape, e.loss)
	if err != nil {
		t.Fatal(err)
	}
	return New(g)
}
