package interpreter

import (
	"slices"
	"strings"
	"sync"

	"ringtrain/model/kernel"
	"ringtrain/ring/exitcode"
)

// maxFolded bounds what a program keeps of the constants that it has computed, of few signatures. A larger value
// is computed in each run: the memory of a process does not grow with the variables of a model.
const maxFolded = 32 << 20

// Program is a signature that is ready to run.
type Program struct {
	Inputs, Outputs []Port

	store   *store
	order   []*node   // that it reaches, each after what it needs; nil once it is compiled
	steps   []*node   // that each run executes
	results []output  // of Outputs
	idle    sync.Pool // *running
}

// Compile prepares a signature. outputs are the keys that are wanted, nil all of them. The error has
// [exitcode.BadData].
func (m *Model) Compile(signature string, outputs []string) (p *Program, err error) {
	_, err = guarded(func() {
		s := sure(m.Signature(signature))
		if outputs == nil {
			p = m.programs[slices.IndexFunc(m.Signatures, func(other Signature) bool { return other.Name == signature })]
			return
		}
		about(s, func() {
			ports := make([]Port, len(outputs))
			for k, key := range outputs {
				ports[k] = s.Outputs[sure(s.Output(key))]
			}
			some := m.expand(s.Inputs, ports, "")
			some.compile()
			p = some
		})
	})
	return p, exitcode.With(exitcode.BadData, err)
}

// features returns what the program parses, by name.
func (p *Program) features() []Feature {
	var all []Feature
	for _, n := range p.steps {
		if parser, ok := n.bound.(*parser); ok {
			in := make([]*Tensor, len(n.in))
			for i := range in {
				in[i] = n.input(i).constant()
			}
			all = append(all, parser.describe(in)...)
		}
	}
	byName := func(a, b Feature) int { return strings.Compare(a.Name, b.Name) }
	slices.SortStableFunc(all, byName)
	return slices.CompactFunc(all, func(a, b Feature) bool { return byName(a, b) == 0 })
}

// compile makes steps of the nodes that p reaches, or constants.
func (p *Program) compile() {
	folding, outputs := &running{frame: frame{store: p.store, engine: newEngine()}}, 0
	for _, n := range p.order {
		about(n, func() {
			p.add(n, folding)
			if outputs += n.outputs; outputs > maxEdges {
				refuse("nodes with more than %d outputs together", maxEdges)
			}
		})
	}
	for _, out := range p.results {
		out.check()
	}
	p.order = nil
	p.idle.New = func() any { return p.newRun() }
}

// check refuses an output that the node does not have. An input of the program has one.
func (o output) check() {
	if n := o.node; n.op != nil && o.number >= n.outputs {
		refuse("%v has no output %d", n, o.number)
	}
}

// add makes n a step, or constants if it is the same in each run.
func (p *Program) add(n *node, folding *running) {
	for i := range n.in {
		n.input(i).check()
	}
	n.op.check(n)
	n.outputs, _ = n.op.outputs(n, "")
	if n.op.bind != nil {
		n.bound = n.op.bind(n)
	}
	folding.fold(n)
	switch {
	case n.constants != nil:
	case p.fuse(n):
		n.place = n.in[0].place
	default:
		n.place = len(p.steps)
		p.steps = append(p.steps, n)
	}
}

// fold computes a node whose outputs are the same in each run. The node remains a step if it depends on an input or on what
// may change, or has large outputs, or an error, which is then that of each run. Only a constant of the file and a variable
// may not fail.
func (r *running) fold(n *node) {
	if n.op.state && (!n.op.reads || r.store.changing) || slices.ContainsFunc(n.in, func(in *node) bool { return in.constants == nil }) {
		return
	}
	c, before := r.call(n), r.bytes
	_, err := guarded(c.execute)
	if len(n.in) == 0 || n.op.reads {
		sure(c, err)
	}
	if err != nil || r.bytes > r.store.most.folded {
		r.bytes = before
		return
	}
	n.constants, n.in = c.out, nil
}

// fused is what a product or a convolution does to its result before it writes it.
type fused struct {
	bias []float32 // nil: nothing is added
	act  kernel.Activation
}

// fuse lets the step before n do what n does, and reports whether it can: a constant bias for each
// column, and then Relu. Both change no bit. Nothing else may use the output of that step.
func (p *Program) fuse(n *node) bool {
	if len(n.in) == 0 || n.in[0].uses != 1 || n.in[0].constants != nil || n.in[0].op == nil {
		return false
	}
	into := p.steps[n.in[0].place]
	columns := into.columns()
	switch n.op.name {
	case "Relu":
		if columns > 0 {
			into.fused.act = kernel.ReLU
		}
		return columns > 0
	case "BiasAdd", "Add", "AddV2":
		bias := n.input(1).constant()
		if columns == 0 || into.fused.bias != nil || into.fused.act != kernel.None || bias == nil || len(bias.Shape) != 1 || len(bias.Float32) != columns {
			return false
		}
		into.fused.bias = bias.Float32
		return true
	}
	return false
}

// columns returns the number of columns of the result of a product or a convolution that can be fused: of
// float32, with constant weights. It is 0 for any other step.
func (n *node) columns() int {
	if n.op.name != "MatMul" && n.op.name != "Conv2D" || len(n.in) != 2 || n.boolean("transpose_a") || n.boolean("transpose_b") {
		return 0
	}
	weights := n.input(1).constant()
	if weights == nil || len(weights.Float32) == 0 || len(weights.Shape) < 2 {
		return 0
	}
	return weights.Shape[len(weights.Shape)-1]
}
