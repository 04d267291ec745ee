package model

import (
	"ringtrain/model/graph"
	"ringtrain/model/internal/kernel"
	"ringtrain/model/tensor"
)

// Model runs a graph forward and backward. It is for one goroutine.
type Model struct {
	graph  *graph.Graph
	stages []stage
	vars   []*Variable
	f      lossFunc
	pass   pass

	// Of the last Forward, Evaluate or Predict.
	x      *tensor.Features
	scores tensor.Matrix
	losses []float64
	y      []float32 // the caller's labels
	dz     tensor.Matrix
	ready  bool // it was Forward: Backward may follow
}

// New makes a model of a graph.
func New(g *graph.Graph) *Model {
	m := &Model{graph: g, f: LossOf(g.Head).function(0)}
	m.pass.engine = kernel.New(highest(), 1)
	m.wire()
	return m
}

// Smooth mixes the labels of a classification with equal shares of all classes: share s of
// them. It holds for losses and gradients from now on.
func (m *Model) Smooth(s float32) { m.f = LossOf(m.graph.Head).function(s) }

// highest is the best kernel set of this machine.
func highest() kernel.Set {
	sets := kernel.Sets()
	return sets[len(sets)-1]
}

// Use has the model compute with a kernel set on a number of threads, from the next batch
// on. Its bits depend on the set, and not on the threads.
func (m *Model) Use(s kernel.Set, threads int) {
	if e := m.pass.engine; e.Set() == s && e.Threads() == threads {
		return
	}
	m.pass.engine.Close()
	m.pass.engine = kernel.New(s, threads)
}

// Engine returns what the model computes with at present; Use may replace it.
func (m *Model) Engine() *kernel.Engine { return m.pass.engine }

// Close ends the model's threads. The model must not be used afterwards.
func (m *Model) Close() { m.pass.engine.Close() }

// Graph returns the model's graph, which must stay as it is.
func (m *Model) Graph() *graph.Graph { return m.graph }

// Variables returns the trainable variables in forward order. Their Value and
// Grad are the caller's to place before the first use.
func (m *Model) Variables() []*Variable { return m.vars }

// Step says which step of the run the next Forward belongs to, and where in the global
// batch its first example stands. What dropout drops depends on these and the seed.
func (m *Model) Step(seed uint64, step, first int64) {
	m.pass.seed, m.pass.step, m.pass.first = seed, step, first
}

// Accumulate says whether Backward adds to the variables' Grad from now on, instead of
// writing it: for a batch in several parts.
func (m *Model) Accumulate(on bool) { m.pass.accumulate = on }

// Forward computes the scores and losses of a batch for Backward, and returns the sum of
// the examples' losses, added in their order. Labels are classes, 0 or 1, or values, as the
// graph's head says; y has one for each row of x. Both must stay as they are until
// Backward. Features, labels and ids out of range are a panic: the input checks them.
func (m *Model) Forward(x *tensor.Features, y []float32) float64 {
	m.pass.train, m.ready = true, true
	return m.losses64(x, y)
}

// Evaluate is Forward without what only training does. No Backward may follow.
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

// Predict computes the scores of a batch, as Scores returns them. No Backward
// may follow.
func (m *Model) Predict(x *tensor.Features) tensor.Matrix {
	m.pass.train, m.ready = false, false
	z := m.outputs(x)
	m.f.forward(m.pass.engine, m.scores, z, nil, nil)
	m.losses, m.y = m.losses[:0], nil
	return m.scores
}

// outputs runs x through the graph and makes room for the scores.
func (m *Model) outputs(x *tensor.Features) tensor.Matrix {
	m.mustBePlaced(false)
	m.x = x
	z := m.forward()
	m.scores.Resize(z.Rows, z.Cols)
	return z
}

// Losses returns the loss of each example of the last Forward or Evaluate, until the next
// call of one or of Predict.
func (m *Model) Losses() []float64 { return m.losses }

// Scores returns the scores of the last Forward, Evaluate or Predict, one row an example:
// class probabilities [n, k], the probability of a 1 [n, 1], or ŷ [n, 1], as the graph's
// head says. They are valid until the next of those calls.
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
	m.pass.ready = ready
	m.dz.Resize(m.scores.Rows, m.scores.Cols)
	m.f.backward(m.pass.engine, m.dz, m.scores, m.y, weight)
	m.backward(m.dz)
}

// mustBePlaced panics if a variable's Value, or Grad, has not its length.
func (m *Model) mustBePlaced(grad bool) {
	for _, v := range m.vars {
		n := v.Len()
		if len(v.Value) != n || grad && (v.ByRows && v.RowStride == 0 || !v.ByRows && len(v.Grad) != n) {
			panic("model: variable has no place in an arena")
		}
	}
}
