package model

import (
	"math"

	"ringtrain/model/graph"
	"ringtrain/model/tensor"
)

// stage is a node of the graph with its memory, which grows with the largest batch.
type stage struct {
	layer   layer
	sources []int // stages that are read; below 0: port −1−source
	in      []value
	dx      []grad

	out     value // of the last forward; a view has its source's memory
	width   int   // of out
	readers int   // how many inputs of other stages read out
	view    view  // nil: the stage has memory of its own

	shares  bool          // an fm: it adds to the gradient of the embedding that it reads
	trained bool          // a variable lies here or before: the gradient of out is wanted
	grad    tensor.Matrix // of out, in own or in the memory of a view that reads out
	own     tensor.Matrix
	fed     bool // a reader has written its part of grad in this backward
}

// wire makes the stages and the variables of the graph.
func (m *Model) wire() {
	at := map[string]int{}
	for i, p := range m.graph.Inputs {
		at[p.Name] = -1 - i
	}
	m.stages = make([]stage, len(m.graph.Nodes))
	for i := range m.graph.Nodes {
		n := &m.graph.Nodes[i]
		s := &m.stages[i]
		var shapes []graph.Shape
		for _, name := range n.In {
			shape, _ := m.graph.Shape(name)
			shapes = append(shapes, shape)
			source := at[name]
			s.sources = append(s.sources, source)
			if source >= 0 {
				if n.Op != graph.OpFM {
					m.stages[source].readers++
				}
				s.trained = s.trained || m.stages[source].trained
			}
		}
		first := len(m.vars)
		for _, v := range n.Vars {
			m.vars = append(m.vars, newVariable(v))
		}
		s.trained = s.trained || len(n.Vars) > 0
		s.layer = newLayer(n, shapes, m.vars[first:], first)
		switch l := s.layer.(type) {
		case *dense:
			l.input = s.sources[0] < 0
		case *fm:
			l.of = m.stages[s.sources[0]].layer.(*embedding)
			s.shares = true
		}
		s.in, s.dx, s.width = make([]value, len(n.In)), make([]grad, len(n.In)), n.Out.Len()
		at[n.Name] = i
	}
	m.findViews()
	m.findUnread()
}

// findUnread leaves out the outputs of embeddings that only fm layers read.
func (m *Model) findUnread() {
	for i := range m.stages {
		s := &m.stages[i]
		if l, ok := s.layer.(*embedding); ok && s.readers == 0 && i+1 < len(m.stages) {
			l.unread, s.width = true, 0
		}
	}
}

// findViews has layers that can work in the memory of what they read do so. It must be
// nobody else's input, and not needed as it was.
func (m *Model) findViews() {
	for i := range m.stages {
		s := &m.stages[i]
		v, ok := s.layer.(view)
		if !ok || s.sources[0] < 0 {
			continue
		}
		source := &m.stages[s.sources[0]]
		if source.readers != 1 {
			continue
		}
		if _, relu := s.layer.(*relu); relu {
			before, ok := source.layer.(activated)
			if !ok {
				continue
			}
			before.activate()
		}
		s.view = v
	}
}

// Room returns how many elements the layers keep of each example of a batch in training:
// their outputs, and the gradients of these. It is math.MaxInt where there are more.
func (m *Model) Room() int {
	n := 0
	keep := func(elements int) { n += min(elements, math.MaxInt-n) }
	for i := range m.stages {
		s := &m.stages[i]
		if s.view != nil {
			continue
		}
		keep(s.width)
		if s.trained {
			keep(s.width)
		}
	}
	return n
}

// activated is a layer that can end with a relu, at no cost.
type activated interface{ activate() }

// forward runs the stages and returns the output of the last.
func (m *Model) forward() tensor.Matrix {
	rows := m.x.Rows()
	for i := range m.stages {
		s := &m.stages[i]
		for k, source := range s.sources {
			s.in[k] = m.value(source, rows)
		}
		if s.view != nil {
			s.out = s.in[0]
			continue
		}
		s.out.Resize(rows, s.width)
		s.layer.forward(&m.pass, s.in, &s.out.Matrix)
	}
	return m.stages[len(m.stages)-1].out.Matrix
}

// FirstNonFinite returns the number of the first node of the graph with a NaN or an infinity
// in its output of the last batch, -1 if none has one.
func (m *Model) FirstNonFinite() int {
	for i := range m.stages {
		for _, v := range m.stages[i].out.Data {
			if v-v != 0 {
				return i
			}
		}
	}
	return -1
}

// value is what a source gives.
func (m *Model) value(source, rows int) value {
	if source >= 0 {
		return m.stages[source].out
	}
	port := &m.graph.Inputs[-1-source]
	if port.Kind == graph.Sparse {
		if rows > 0 && m.x.Bags.Fields != port.Fields {
			panic("model: number of fields differs from the model's")
		}
		return value{bags: &m.x.Bags}
	}
	cols := port.Shape.Len()
	if rows > 0 && m.x.Dense.Cols != cols {
		panic("model: number of features differs from the model's")
	}
	return value{Matrix: tensor.Matrix{Rows: rows, Cols: cols, Data: m.x.Dense.Data[:rows*cols]}}
}

// backward runs the stages from the last, whose output has the gradient dz.
func (m *Model) backward(dz tensor.Matrix) {
	for i := range m.stages {
		m.stages[i].fed = false
	}
	last := &m.stages[len(m.stages)-1]
	last.grad, last.fed = dz, true
	for i := len(m.stages) - 1; i >= 0; i-- {
		s := &m.stages[i]
		switch {
		case !s.trained:
		case s.view != nil:
			s.view.mask(&m.pass, s.out.Matrix, s.grad)
			source := &m.stages[s.sources[0]]
			source.grad, source.fed = s.grad, true
		default:
			m.gradients(s)
			s.layer.backward(&m.pass, s.grad, s.dx)
		}
	}
}

// gradients makes room for the gradients of what s reads.
func (m *Model) gradients(s *stage) {
	if s.shares {
		return
	}
	for k, i := range s.sources {
		s.dx[k] = grad{}
		if i < 0 || !m.stages[i].trained {
			continue
		}
		source := &m.stages[i]
		if !source.fed {
			source.own.Resize(s.grad.Rows, source.width)
			source.grad = source.own
		}
		s.dx[k] = grad{Matrix: source.grad, add: source.fed}
		source.fed = true
	}
}
