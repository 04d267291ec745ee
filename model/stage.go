package model

import (
	"math"

	"ringtrain/model/graph"
	"ringtrain/model/tensor"
)

// stage is a node of the graph with its memory, which grows with the largest batch.
type stage struct {
	layer   layer
	sources []int // indices of the inputs' stages; a negative source is port −1−source
	in      []value
	dx      []grad

	out     value // of the last forward; a view shares its source's memory
	width   int   // of out
	readers int   // number of stage inputs that read out
	view    view  // nil if the stage has its own memory

	shares      bool          // an fm, which adds to the gradient of its embedding
	needsGrad   bool          // a variable is here or before, so the gradient of out is needed
	grad        tensor.Matrix // of out, in own or in the memory of a view of out
	own         tensor.Matrix
	gradWritten bool // a reader has written grad in this backward
}

// connect makes the stages and the variables of the graph.
func (m *Model) connect() {
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
				s.needsGrad = s.needsGrad || m.stages[source].needsGrad
			}
		}
		first := len(m.vars)
		for _, v := range n.Vars {
			m.vars = append(m.vars, &Variable{Name: v.Name, Shape: v.Shape, ByRows: v.ByRows, Decay: v.Decay})
		}
		s.needsGrad = s.needsGrad || len(n.Vars) > 0
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

// findUnread disables the outputs of embeddings that only fm layers read.
func (m *Model) findUnread() {
	for i := range m.stages {
		s := &m.stages[i]
		if l, ok := s.layer.(*embedding); ok && s.readers == 0 && i+1 < len(m.stages) {
			l.unread, s.width = true, 0
		}
	}
}

// findViews makes layers work in the memory of their input if possible: no other layer
// may read the input, and backward must not need its original values.
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
			before, ok := source.layer.(reluFuser)
			if !ok {
				continue
			}
			before.fuseReLU()
		}
		s.view = v
	}
}

// Room returns the number of elements that the layers keep per example in training:
// their outputs and the gradients of these. It is math.MaxInt if the number overflows.
func (m *Model) Room() int {
	n := 0
	keep := func(elements int) { n += min(elements, math.MaxInt-n) }
	for i := range m.stages {
		s := &m.stages[i]
		if s.view != nil {
			continue
		}
		keep(s.width)
		if s.needsGrad {
			keep(s.width)
		}
	}
	return n
}

// reluFuser is a layer that can apply a relu to its output at no cost.
type reluFuser interface{ fuseReLU() }

// forward runs the stages and returns the output of the last one.
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

// FirstNonFinite returns the index of the first node of the graph with a NaN or an
// infinity in its output of the last batch, or -1.
func (m *Model) FirstNonFinite() int {
	for i := range m.stages {
		if !tensor.Finite(m.stages[i].out.Data) {
			return i
		}
	}
	return -1
}

// value returns the output of a source.
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

// backward runs the stages in reverse order. dz is the gradient of the last output.
func (m *Model) backward(dz tensor.Matrix) {
	for i := range m.stages {
		m.stages[i].gradWritten = false
	}
	last := &m.stages[len(m.stages)-1]
	last.grad, last.gradWritten = dz, true
	for i := len(m.stages) - 1; i >= 0; i-- {
		s := &m.stages[i]
		switch {
		case !s.needsGrad:
		case s.view != nil:
			s.view.mask(&m.pass, s.out.Matrix, s.grad)
			source := &m.stages[s.sources[0]]
			source.grad, source.gradWritten = s.grad, true
		default:
			m.gradients(s)
			s.layer.backward(&m.pass, s.grad, s.dx)
		}
	}
}

// gradients allocates the gradients of the inputs of s.
func (m *Model) gradients(s *stage) {
	if s.shares {
		return
	}
	for k, i := range s.sources {
		s.dx[k] = grad{}
		if i < 0 || !m.stages[i].needsGrad {
			continue
		}
		source := &m.stages[i]
		if !source.gradWritten {
			source.own.Resize(s.grad.Rows, source.width)
			source.grad = source.own
		}
		s.dx[k] = grad{Matrix: source.grad, add: source.gradWritten}
		source.gradWritten = true
	}
}
