package model

import (
	"errors"
	"fmt"

	"ringtrain/model/tensor"
	"ringtrain/ring/exitcode"
)

// Model is a chain of layers with a loss at its end. It is for one goroutine.
type Model struct {
	config Config
	loss   Loss
	sparse *sparse // first layer of a model of ids; nil: dense features
	layers []layer
	vars   []*Variable
	f      lossFunc

	// Of the last Forward or Predict.
	scores tensor.Matrix
	losses []float64
	y      []float32 // the caller's labels
	dz     tensor.Matrix
	ready  bool // it was Forward: Backward may follow
}

// New builds the model that c describes. The number of features must be known
// by now. Whatever does not fit is a usage error.
func New(c Config, l Loss) (*Model, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Features == 0 {
		return nil, exitcode.With(exitcode.Usage, errors.New("model.features is 0, want 1 or more"))
	}
	if l != c.loss() {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("loss.kind is %v, want %v with model.kind %s", l, c.loss(), c.Kind))
	}
	m := &Model{config: c, loss: l, f: l.function()}
	switch c.Kind {
	case kindLinear:
		m.addDense("linear", c.Features, 1)
	case kindSoftmax:
		m.addDense("softmax", c.Features, c.Classes)
	case kindMLP:
		in := c.Features
		for i, out := range c.Hidden {
			m.addDense(fmt.Sprintf("hidden_%d", i+1), in, out)
			m.layers = append(m.layers, &relu{})
			in = out
		}
		m.addDense("softmax", in, c.Classes)
	case kindSparseLinear:
		m.sparse = newSparse("linear", c.Features)
		m.vars = append(m.vars, m.sparse.weights, m.sparse.bias)
	}
	return m, nil
}

func (m *Model) addDense(name string, in, out int) {
	d := newDense(name, in, out)
	d.first = len(m.vars)
	m.layers = append(m.layers, d)
	m.vars = append(m.vars, d.kernel, d.bias)
}

// Variables returns the trainable variables in forward order. Their Value and
// Grad are the caller's to place before the first use.
func (m *Model) Variables() []*Variable { return m.vars }

// Forward computes the scores and losses of a batch and returns the sum of the
// examples' losses, added in their order. Labels are values for linear, classes
// for softmax and mlp, 0 or 1 for sparse-linear; y has one for each row of x.
// Both must stay as they are until Backward. Features, labels and ids out of
// range are a panic: the input checks them.
func (m *Model) Forward(x *tensor.Features, y []float32) float64 {
	if len(y) != x.Rows() {
		panic("model: Forward: want one label for each example")
	}
	z := m.outputs(x)
	if cap(m.losses) < z.Rows {
		m.losses = make([]float64, z.Rows)
	}
	m.losses = m.losses[:z.Rows]
	m.f.forward(m.scores, z, m.losses, y)
	m.y, m.ready = y, true
	var sum float64
	for _, l := range m.losses {
		sum += l
	}
	return sum
}

// Predict computes the scores of a batch, as Scores returns them. No Backward
// may follow.
func (m *Model) Predict(x *tensor.Features) tensor.Matrix {
	z := m.outputs(x)
	m.f.forward(m.scores, z, nil, nil)
	m.losses, m.y, m.ready = m.losses[:0], nil, false
	return m.scores
}

// outputs runs x down the layers and makes room for the scores.
func (m *Model) outputs(x *tensor.Features) tensor.Matrix {
	m.mustBePlaced(false)
	z := m.first(x)
	for _, l := range m.layers {
		z = l.forward(z)
	}
	m.scores.Resize(z.Rows, z.Cols)
	return z
}

// first returns what the first of m.layers takes.
func (m *Model) first(x *tensor.Features) tensor.Matrix {
	if m.sparse != nil {
		return m.sparse.forward(&x.Sparse)
	}
	n := x.Rows()
	if n > 0 && x.Dense.Cols != m.config.Features {
		panic("model: number of features differs from the model's")
	}
	return tensor.Matrix{Rows: n, Cols: m.config.Features, Data: x.Dense.Data[:n*m.config.Features]}
}

// Losses returns the loss of each example of the last Forward, until the next
// call of Forward or Predict.
func (m *Model) Losses() []float64 { return m.losses }

// Scores returns the scores of the last Forward or Predict, one row an example:
// class probabilities [n, k] for softmax and mlp, the probability of a 1 [n, 1]
// for sparse-linear, ŷ [n, 1] for linear. They are valid until the next of
// those calls.
func (m *Model) Scores() tensor.Matrix { return m.scores }

// Backward computes the gradient of Σ weight[i]·loss[i] over the examples of
// the last Forward and writes it to the variables' Grad; the one of a variable
// by rows is added, to a Grad that the caller has zeroed. It calls ready(i)
// once for each variable i as soon as its gradient is complete, in descending
// order of i.
func (m *Model) Backward(weight []float32, ready func(variable int)) {
	if !m.ready {
		panic("model: Backward without Forward")
	}
	if len(weight) != len(m.y) {
		panic("model: Backward: want one weight for each example")
	}
	m.mustBePlaced(true)
	m.dz.Resize(m.scores.Rows, m.scores.Cols)
	m.f.backward(m.dz, m.scores, m.y, weight)
	d := m.dz
	for i := len(m.layers) - 1; i >= 0; i-- {
		d = m.layers[i].backward(d, i > 0, ready)
	}
	if m.sparse != nil {
		m.sparse.backward(d, ready)
	}
}

// mustBePlaced panics if a variable's Value, or Grad, has not its length.
func (m *Model) mustBePlaced(grad bool) {
	for _, v := range m.vars {
		if n := v.Len(); len(v.Value) != n || grad && len(v.Grad) != n {
			panic("model: variable has no place in an arena")
		}
	}
}
