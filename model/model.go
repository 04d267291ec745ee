package model

import (
	"ringtrain/model/graph"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// Model runs a graph forward and backward. Only one goroutine may use a Model.
type Model struct {
	graph  *graph.Graph
	stages []stage
	vars   []*Variable
	f      lossFunc
	smooth float32 // share of smoothed labels
	pass   pass

	// State of the last Forward, Evaluate or Predict.
	x      *tensor.Features
	scores tensor.Matrix
	losses []float64
	y      []float32 // the caller's labels
	dz     tensor.Matrix
	ready  bool // Forward was the last: Backward may follow
}

// New returns the model of a graph.
func New(g *graph.Graph) *Model {
	m := &Model{graph: g, f: lossOf(g.Head.Kind).function(0)}
	sets := kernel.Sets()
	m.pass.engine = kernel.New(sets[len(sets)-1], 1) // the highest of this machine
	m.connect()
	return m
}

// Smooth smooths the labels of a classification with share s from now on, in losses and
// gradients: all classes get equal parts of the share.
func (m *Model) Smooth(s float32) { m.f, m.smooth = lossOf(m.graph.Head.Kind).function(s), s }

// Use makes the model compute with a kernel set on a number of threads, from the next
// batch on. The results depend on the set, not on the number of threads.
func (m *Model) Use(s kernel.Set, threads int) {
	if e := m.pass.engine; e.Set() == s && e.Threads() == threads {
		return
	}
	m.pass.engine.Close()
	m.pass.engine = kernel.New(s, threads)
}

// Engine returns the current compute engine. Use may replace it.
func (m *Model) Engine() *kernel.Engine { return m.pass.engine }

// Close ends the model's threads. The model must not be used afterwards.
func (m *Model) Close() { m.pass.engine.Close() }

// Graph returns the model's graph. The caller must not change it.
func (m *Model) Graph() *graph.Graph { return m.graph }

// Variables returns the trainable variables in forward order. The caller sets their
// Value and Grad before the first use.
func (m *Model) Variables() []*Variable { return m.vars }

// Step sets the step of the next Forward, and the position of its first example in the
// global batch. Dropout depends on these and the seed.
func (m *Model) Step(seed uint64, step, first int64) {
	m.pass.seed, m.pass.step, m.pass.first = seed, step, first
}

// Accumulate makes Backward add to the variables' Grad from now on, instead of
// overwriting it: for a batch in several parts.
func (m *Model) Accumulate(on bool) { m.pass.accumulate = on }

// Forward computes the scores and losses of a batch for Backward. It returns the sum of
// the examples' losses in their order. y has one label for each row of x: a class, 0 or
// 1, or a value, as the graph's head defines. Both must not change until Backward.
// Forward panics if features, labels or ids are out of range; package input checks them.
func (m *Model) Forward(x *tensor.Features, y []float32) float64 {
	m.pass.train, m.ready = true, true
	return m.losses64(x, y)
}

// Evaluate is Forward without the parts for training. Backward must not follow.
func (m *Model) Evaluate(x *tensor.Features, y []float32) float64 {
	m.pass.train, m.ready = false, false
	return m.losses64(x, y)
}

func (m *Model) losses64(x *tensor.Features, y []float32) float64 {
	if len(y) != x.Rows() {
		panic("model: want one label for each example")
	}
	z := m.outputs(x)
	if cap(m.losses) < z.Rows {
		m.losses = make([]float64, z.Rows)
	}
	m.losses = m.losses[:z.Rows]
	m.f.forward(m.pass.engine, m.scores, z, m.losses, y)
	m.y = y
	var sum float64
	for _, l := range m.losses {
		sum += l
	}
	return sum
}

// Predict computes the scores of a batch, as Scores returns them, those of a regression in
// the unit of its label. Backward must not follow.
func (m *Model) Predict(x *tensor.Features) tensor.Matrix {
	m.pass.train, m.ready = false, false
	z := m.outputs(x)
	m.f.forward(m.pass.engine, m.scores, z, nil, nil)
	if h := m.graph.Head; h.Scale != nil {
		for i, s := range m.scores.Data {
			m.scores.Data[i] = float32(h.Unit(s))
		}
	}
	m.losses, m.y = m.losses[:0], nil
	return m.scores
}

// outputs computes the graph's outputs for x and allocates the scores.
func (m *Model) outputs(x *tensor.Features) tensor.Matrix {
	m.checkPlaced(false)
	m.x = x
	z := m.forward()
	m.scores.Resize(z.Rows, z.Cols)
	return z
}

// Losses returns the loss of each example of the last Forward or Evaluate. It is valid
// until the next call of these or Predict.
func (m *Model) Losses() []float64 { return m.losses }

// Scores returns the scores of the last Forward, Evaluate or Predict, one row per
// example: class probabilities [n, k], the probability of class 1 [n, 1], or ŷ [n, 1],
// as the graph's head defines. They are valid until the next of those calls.
func (m *Model) Scores() tensor.Matrix { return m.scores }

// Backward computes the gradient of Σ weight[i]·loss[i] over the examples of the last
// Forward and writes it to the variables' Grad. For a variable by rows it adds to
// RowGrad, which the caller has zeroed. It calls ready(i) once for each variable i when
// its gradient is complete, in descending order of i.
func (m *Model) Backward(weight []float32, ready func(variable int)) {
	if !m.ready {
		panic("model: Backward without Forward")
	}
	if len(weight) != len(m.y) {
		panic("model: Backward: want one weight for each example")
	}
	m.checkPlaced(true)
	m.pass.ready = ready
	m.dz.Resize(m.scores.Rows, m.scores.Cols)
	m.f.backward(m.pass.engine, m.dz, m.scores, m.y, weight)
	m.backward(m.dz)
}

// checkPlaced panics if the length of a variable's Value, or Grad, is wrong.
func (m *Model) checkPlaced(grad bool) {
	for _, v := range m.vars {
		n := v.Len()
		if len(v.Value) != n || grad && (v.ByRows && v.RowStride == 0 || !v.ByRows && len(v.Grad) != n) {
			panic("model: variable has no place in an arena")
		}
	}
}
