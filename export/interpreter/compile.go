package interpreter

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"ringtrain/model/kernel"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// maxFolded bounds what a program keeps of the constants that it has computed, of few signatures. A larger value
// is computed in each run: the memory of a process does not grow with the variables of a model.
const maxFolded = 32 << 20

// Program is a signature that is ready to run.
type Program struct {
	Inputs, Outputs []Port

	model   *Model
	order   []*node // that it reaches, each after what it needs; nil once it is compiled
	steps   []*node // that each run executes
	results []output
	inputs  int       // how many
	idle    sync.Pool // *running
}

// Compile prepares a signature. outputs are the keys that are wanted, nil all of them. The error has
// [exitcode.BadData].
func (m *Model) Compile(signature string, outputs []string) (*Program, error) {
	s, err := m.Signature(signature)
	if err != nil {
		return nil, exitcode.With(exitcode.BadData, err)
	}
	if outputs == nil {
		return m.programs[slices.IndexFunc(m.Signatures, func(other Signature) bool { return other.Name == signature })], nil
	}
	ports := make([]Port, len(outputs))
	for k, key := range outputs {
		i, err := s.Output(key)
		if err != nil {
			return nil, exitcode.With(exitcode.BadData, inSignature(s, err))
		}
		ports[k] = s.Outputs[i]
	}
	p, err := m.program(s, ports)
	if err == nil {
		err = p.compile(m)
	}
	return p, exitcode.With(exitcode.BadData, inSignature(s, err))
}

// inSignature says in which signature an error is.
func inSignature(s *Signature, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("signature %s: %w", phrase.Name(s.Name), err)
}

// program returns what a signature reaches for the outputs that are wanted.
func (m *Model) program(s *Signature, wanted []Port) (*Program, error) {
	p, err := m.lib.expand(tensors(s.Inputs), tensors(wanted), "")
	if err == nil {
		p.Inputs, p.Outputs = s.Inputs, wanted
	}
	return p, err
}

// features returns what the program parses, by name.
func (p *Program) features() ([]Feature, error) {
	var all []Feature
	for _, n := range p.steps {
		if n.op.features == nil {
			continue
		}
		in := make([]*Tensor, len(n.in))
		for i := range n.in {
			in[i] = n.in[i].constant()
		}
		some, err := n.op.features(n, in)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", n, err)
		}
		all = append(all, some...)
	}
	byName := func(a, b Feature) int { return strings.Compare(a.Name, b.Name) }
	slices.SortStableFunc(all, byName)
	return slices.CompactFunc(all, func(a, b Feature) bool { return byName(a, b) == 0 }), nil
}

// compile makes steps of the nodes that p reaches, or constants.
func (p *Program) compile(m *Model) error {
	p.model = m
	folding, outputs := &running{model: m, engine: newEngine()}, 0
	for _, n := range p.order {
		err := p.add(n, folding)
		if outputs += n.outputs; err == nil && outputs > maxEdges {
			err = fmt.Errorf("nodes with more than %d outputs together", maxEdges)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", n, err)
		}
	}
	p.order = nil
	p.idle.New = func() any { return p.newRun() }
	return exist(p.results)
}

// exist returns an error if nodes do not have the outputs that are taken. An input of the program has one.
func exist(all []output) error {
	for _, out := range all {
		if n := out.node; n.op != nil && out.number >= n.outputs {
			return fmt.Errorf("%v has no output %d", n, out.number)
		}
	}
	return nil
}

// add makes n a step, or constants if it is the same in each run.
func (p *Program) add(n *node, folding *running) error {
	err := exist(n.in)
	if err == nil {
		err = n.op.fits(n)
	}
	if err == nil {
		n.outputs, _, err = n.op.outputs(n, "")
	}
	if err == nil && n.op.bind != nil {
		n.bound, err = n.op.bind(n)
	}
	if err == nil {
		err = folding.fold(n)
	}
	if err != nil || n.constants != nil {
		return err
	}
	if n.place = len(p.steps); p.fuse(n) {
		n.place = n.in[0].node.place
		return nil
	}
	p.steps = append(p.steps, n)
	return nil
}

// fold computes a node whose outputs are the same in each run. The node remains a step if it depends on an input or on what
// may change, or has large outputs, or an error, which is then that of each run. Only a constant of the file and a variable
// may not fail.
func (r *running) fold(n *node) error {
	if n.op.state && (!n.op.reads || r.model.changing) || slices.ContainsFunc(n.in, func(in output) bool { return in.constant() == nil }) {
		return nil
	}
	c, before := r.call(n), r.bytes
	err := guarded(c.execute)
	if err != nil && (len(n.in) == 0 || n.op.reads) {
		return err
	}
	if err != nil || r.bytes > r.model.most.folded {
		r.bytes = before
		return nil
	}
	n.constants, n.in = c.out, nil
	return nil
}

// fused is what a product or a convolution does to its result before it writes it.
type fused struct {
	bias []float32 // nil: nothing is added
	act  kernel.Activation
}

// fuse lets the step before n do what n does, and reports whether it can: a constant bias for each
// column, and then Relu. Both change no bit. Nothing else may use the output of that step.
func (p *Program) fuse(n *node) bool {
	if len(n.in) == 0 || n.in[0].node.uses != 1 || n.in[0].constant() != nil || n.in[0].node.op == nil {
		return false
	}
	into := p.steps[n.in[0].node.place]
	columns := into.columns()
	switch n.op.name {
	case "Relu":
		if columns == 0 {
			return false
		}
		into.fused.act = kernel.ReLU
		return true
	case "BiasAdd", "Add", "AddV2":
		if columns == 0 || len(n.in) != 2 || into.fused.bias != nil || into.fused.act != kernel.None {
			return false
		}
		bias := n.in[1].constant()
		if bias == nil || len(bias.Shape) != 1 || len(bias.Float32) != columns {
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
	if n.op.name != "MatMul" && n.op.name != "Conv2D" || len(n.in) != 2 || n.boolean("transpose_a", false) || n.boolean("transpose_b", false) {
		return 0
	}
	weights := n.in[1].constant()
	if weights == nil || len(weights.Float32) == 0 || len(weights.Shape) < 2 {
		return 0
	}
	return weights.Shape[len(weights.Shape)-1]
}
