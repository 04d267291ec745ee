package model

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ringtrain/model/graph"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// drawnLayers returns random layers of every kind. Most read the layer before, some also
// an earlier one. The last layer has two outputs.
func drawnLayers(r *rand.Rand) []Layer {
	var layers []Layer
	add := func(l Layer) {
		l.Name = fmt.Sprintf("l%d", len(layers))
		layers = append(layers, l)
	}
	kind := func() Layer {
		switch r.IntN(9) {
		case 0, 1:
			return Layer{ReLU: plain}
		case 2:
			return Layer{GELU: plain}
		case 3:
			return Layer{LeakyReLU: &LeakyReLULayer{}}
		case 4:
			return Layer{Dropout: &DropoutLayer{Rate: 0.3}}
		case 5:
			return Layer{LayerNorm: &LayerNormLayer{}}
		case 6:
			return Layer{Tanh: plain}
		case 7:
			return Layer{Sigmoid: plain}
		}
		return Layer{Flatten: plain}
	}
	// join randomly adds a sum of the last layer and a layer with at least the given
	// index, possibly the same.
	join := func(from int) {
		from = from + r.IntN(len(layers)-from)
		if r.IntN(2) == 0 {
			add(Layer{Add: plain, In: []string{layers[len(layers)-1].Name, layers[from].Name}})
		}
	}
	add(Layer{Conv2D: &Conv2DLayer{Filters: 3, Kernel: []int{2}, Padding: "same"}})
	for range 1 + r.IntN(8) {
		l := kind()
		if l.Flatten != nil {
			l = Layer{Conv2D: &Conv2DLayer{Filters: 3, Kernel: []int{3}, Padding: "same", Activation: "relu"}}
		}
		add(l)
		join(0)
	}
	add(Layer{Flatten: plain})
	first := len(layers) - 1
	for range 1 + r.IntN(5) {
		add(kind())
		join(first)
	}
	add(Layer{Dense: &DenseLayer{Units: 4, Activation: []Activation{"", "relu"}[r.IntN(2)]}})
	before := layers[len(layers)-1].Name
	add(Layer{ReLU: plain})
	add(Layer{Concat: plain, In: []string{before, layers[len(layers)-1].Name, before}})
	add(Layer{Dense: &DenseLayer{Units: 2, Activation: []Activation{"", "relu"}[r.IntN(2)]}})
	return layers
}

// TestViewsChangeNothing verifies that views give the same losses and gradients as
// layers with their own memory, for random networks, growing and shrinking batches,
// every kernel set and several threads.
func TestViewsChangeNothing(t *testing.T) {
	views := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		e := example{Config: Config{Layers: drawnLayers(r)}, shape: graph.Shape{4, 3, 2}}
		shared, apart := build(t, e), build(t, e)
		for i := range apart.stages {
			s := &apart.stages[i]
			if s.view != nil {
				views++
			}
			s.view = nil
			switch l := s.layer.(type) {
			case *dense:
				l.act = kernel.None
			case *conv2D:
				l.act = kernel.None
			}
		}
		place(shared, seed)
		place(apart, seed)
		sets := kernel.Sets()
		set := sets[seed%uint64(len(sets))]
		shared.Use(set, 2)
		apart.Use(set, 1)
		defer shared.Close()
		for step, n := range []int{5, 1, 9, 0, 3} {
			x, y := batch(e, n, seed+uint64(step))
			weight := make([]float32, n)
			fill(r, weight)
			compareViews(t, fmt.Sprintf("seed %d, batch of %d, %s", seed, n, e.name()), shared, apart, x, y, weight, int64(step))
		}
	}
	if views < 60 {
		t.Errorf("%d views, want one or more a network", views)
	}
}

func compareViews(t *testing.T, what string, shared, apart *Model, x *tensor.Features, y, weight []float32, step int64) {
	t.Helper()
	var loss [2]float64
	for i, m := range []*Model{shared, apart} {
		m.Step(7, step, 100)
		loss[i] = m.Forward(x, y)
		m.Accumulate(step == 2)
		m.Backward(weight, ignore)
	}
	if loss[0] != loss[1] {
		t.Fatalf("%s: loss %g, want %g", what, loss[0], loss[1])
	}
	for i, v := range shared.Variables() {
		for k, g := range gradOf(v) {
			if want := gradOf(apart.Variables()[i])[k]; g != want {
				t.Fatalf("%s: gradient %d of %s is %g, want %g", what, k, v.Name, g, want)
			}
		}
	}
}
