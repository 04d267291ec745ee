package model

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"ringtrain/model/graph"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// networks has the networks of testdata/networks/make_networks.py.
func networks() map[string][]Layer {
	none, epsilon := false, 1e-5
	logits := Layer{Name: "logits", Dense: &DenseLayer{Units: 3}}
	flatten := Layer{Name: "flatten", Flatten: plain}
	return map[string][]Layer{
		"strided": {
			{Name: "conv", Conv2D: &Conv2DLayer{Filters: 3, Kernel: []int{3, 2}, Strides: []int{2, 1}, Padding: "same", Activation: "relu"}},
			flatten, logits,
		},
		"pooled": {
			{Name: "conv", Conv2D: &Conv2DLayer{Filters: 4, Kernel: []int{2}, Activation: "tanh"}},
			{Name: "pool", MaxPool2D: &PoolLayer{}}, flatten, logits,
		},
		"padded": {
			{Name: "conv", Conv2D: &Conv2DLayer{Filters: 2, Kernel: []int{3}, Padding: "same"}},
			{Name: "pool", MaxPool2D: &PoolLayer{PoolSize: []int{3}, Strides: []int{2}, Padding: "same"}}, flatten, logits,
		},
		"residual": {
			{Name: "stem", Conv2D: &Conv2DLayer{Filters: 4, Kernel: []int{3}, Padding: "same", Activation: "leaky_relu"}},
			{Name: "norm", LayerNorm: &LayerNormLayer{}},
			{Name: "b", Conv2D: &Conv2DLayer{Filters: 4, Kernel: []int{3}, Padding: "same", UseBias: &none, Activation: "gelu"}},
			{Name: "sum", In: []string{"stem", "b"}, Add: plain},
			{Name: "mean", AvgPool2D: &PoolLayer{PoolSize: []int{3, 2}, Strides: []int{1, 2}, Padding: "same"}},
			{Name: "all", GlobalAvgPool: plain}, logits,
		},
		"branches": {
			{Name: "hidden", Dense: &DenseLayer{Units: 6}},
			{Name: "a", LeakyReLU: &LeakyReLULayer{}}, {Name: "b", In: []string{"hidden"}, Tanh: plain},
			{Name: "c", In: []string{"hidden"}, GELU: plain},
			{Name: "all", In: []string{"a", "b", "c"}, Concat: plain},
			{Name: "narrow", Dense: &DenseLayer{Units: 5, Activation: "sigmoid"}},
			{Name: "norm", LayerNorm: &LayerNormLayer{Epsilon: &epsilon}}, logits,
		},
	}
}

// keras has TensorFlow's results.
type keras struct {
	Shape         graph.Shape
	X, Y          []float32
	Rate          float32
	Steps         int
	Probabilities []float32
	Losses        []float64
	Variables     []struct {
		Name                   string
		Shape                  []int
		Value, Gradient, After []float32
	}
}

// TestNetworks verifies forward, gradients and three steps of gradient descent against
// Keras, for every layer, every option with a default, and every kernel set of this
// machine.
func TestNetworks(t *testing.T) {
	for name, layers := range networks() {
		for _, set := range kernel.Sets() {
			t.Run("network="+name+"/kernels="+set.String(), func(t *testing.T) {
				var k keras
				text, err := os.ReadFile(filepath.Join("testdata", "networks", name+".json"))
				if err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(text, &k); err != nil {
					t.Fatal(err)
				}
				m := build(t, example{Config{Layers: layers}, k.Shape, LossConfig{}, false})
				m.Use(set, 1)
				k.compare(t, m)
			})
		}
	}
}

func (k *keras) compare(t *testing.T, m *Model) {
	vars := map[string]*Variable{}
	for _, v := range m.Variables() {
		v.Value, v.Grad = make([]float32, v.Len()), make([]float32, v.Len())
		vars[v.Name] = v
	}
	if len(vars) != len(k.Variables) {
		t.Fatalf("%d variables, Keras has %d", len(vars), len(k.Variables))
	}
	for _, want := range k.Variables {
		v := vars[want.Name]
		if v == nil || v.Len() != len(want.Value) {
			t.Fatalf("no variable %s of shape %v", want.Name, want.Shape)
		}
		copy(v.Value, want.Value)
	}
	rows := len(k.Y)
	x := &tensor.Features{Dense: tensor.Matrix{Rows: rows, Cols: len(k.X) / rows, Data: k.X}}
	weight := make([]float32, rows)
	fill32(weight, 1/float32(rows))
	for step := range k.Steps {
		m.Forward(x, k.Y)
		if step == 0 {
			close32(t, "probabilities", m.Scores().Data, k.Probabilities)
			for i, l := range m.Losses() {
				near(t, "loss", l, k.Losses[i], 1e-5)
			}
		}
		m.Backward(weight, ignore)
		for _, v := range k.Variables {
			if step == 0 {
				close32(t, "gradient of "+v.Name, vars[v.Name].Grad, v.Gradient)
			}
			for i, g := range vars[v.Name].Grad {
				vars[v.Name].Value[i] -= k.Rate * g
			}
		}
	}
	for _, v := range k.Variables {
		close32(t, v.Name+" after the steps", vars[v.Name].Value, v.After)
	}
}

// close32 compares with the tolerance of float32 sums in another order, relative to the
// largest element.
func close32(t *testing.T, what string, got, want []float32) {
	t.Helper()
	largest := 0.0
	for _, v := range want {
		largest = math.Max(largest, math.Abs(float64(v)))
	}
	for i, v := range want {
		if d := math.Abs(float64(got[i]) - float64(v)); !(d <= 1e-5*largest) {
			t.Errorf("%s: element %d is %g, Keras has %g", what, i, got[i], v)
			return
		}
	}
}
