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

	store   *store
	steps   []step
	results []source  // of Outputs
	inputs  int       // how many
	idle    sync.Pool // *running
	folded  int       // bytes of computed constants
}

// step is a node that each run executes.
type step struct {
	node  *node
	op    *op
	bound any
	in    []source
	out   int // how many
	fused fused
}

// source is where the value of a tensor comes from.
type source struct {
	constant *Tensor // nil: it is no constant
	step     int     // -1: output out is an input of the program
	out      int
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
			return nil, exitcode.With(exitcode.BadData, fmt.Errorf("signature %s: %w", phrase.Name(signature), err))
		}
		ports[k] = s.Outputs[i]
	}
	p, err := m.program(*s, ports)
	return p, exitcode.With(exitcode.BadData, err)
}

// program compiles a signature for the outputs that are wanted.
func (m *Model) program(s Signature, wanted []Port) (*Program, error) {
	e, err := m.lib.expand(tensors(s.Inputs), tensors(wanted), "")
	var p *Program
	if err == nil {
		p, err = m.store.compile(e)
	}
	if err != nil {
		return nil, fmt.Errorf("signature %s: %w", phrase.Name(s.Name), err)
	}
	p.Inputs, p.Outputs = s.Inputs, wanted
	return p, nil
}

// features returns what the program parses, by name.
func (p *Program) features() ([]Feature, error) {
	var all []Feature
	for _, s := range p.steps {
		if s.op.features == nil {
			continue
		}
		in := make([]*Tensor, len(s.in))
		for i := range s.in {
			in[i] = s.in[i].constant
		}
		some, err := s.op.features(s.node, in)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", s.node, err)
		}
		all = append(all, some...)
	}
	byName := func(a, b Feature) int { return strings.Compare(a.Name, b.Name) }
	slices.SortStableFunc(all, byName)
	return slices.CompactFunc(all, func(a, b Feature) bool { return byName(a, b) == 0 }), nil
}

// compiler makes the steps of a program out of vertices.
type compiler struct {
	program *Program
	engine  *kernel.Engine
	outputs int // of all nodes
}

func (s *store) compile(e *expansion) (*Program, error) {
	c := &compiler{program: &Program{store: s, inputs: e.inputs}, engine: newEngine()}
	for _, v := range e.order {
		if err := c.add(v); err != nil {
			return nil, fmt.Errorf("%v: %w", &v.node, err)
		}
	}
	for _, out := range e.fetched {
		from, err := out.vertex.source(out.number)
		if err != nil {
			return nil, err
		}
		c.program.results = append(c.program.results, from)
	}
	c.program.idle.New = func() any { return c.program.newRun() }
	return c.program, nil
}

// source returns where an output comes from.
func (v *vertex) source(number int) (source, error) {
	if number >= len(v.sources) {
		return source{}, fmt.Errorf("%v has no output %d", &v.node, number)
	}
	return v.sources[number], nil
}

// add makes v a step, or constants if it is the same in each run.
func (c *compiler) add(v *vertex) error {
	s := step{node: &v.node, op: v.op}
	for i, in := range v.in {
		from, err := in.source(v.outs[i])
		if err != nil {
			return err
		}
		s.in = append(s.in, from)
	}
	err := v.op.fits(s.node, len(s.in))
	if err != nil {
		return err
	}
	if s.out, _, err = v.op.outputs(s.node, ""); err != nil {
		return err
	}
	if c.outputs += s.out; c.outputs > maxEdges {
		return fmt.Errorf("nodes with more than %d outputs together", maxEdges)
	}
	if v.op.bind != nil {
		if s.bound, err = v.op.bind(s.node); err != nil {
			return err
		}
	}
	if v.sources, err = c.fold(&s); v.sources != nil || err != nil {
		return err
	}
	if c.fuse(v, &s) {
		v.sources = v.in[0].sources
		return nil
	}
	for i := range s.out {
		v.sources = append(v.sources, source{step: len(c.program.steps), out: i})
	}
	c.program.steps = append(c.program.steps, s)
	return nil
}

// fold computes a step whose outputs are the same in each run. It returns nil if the step remains: the
// step depends on an input or on what may change, or has large outputs, or an error, which is then that of
// each run. Only a constant of the file and a variable may not fail.
func (c *compiler) fold(s *step) ([]source, error) {
	store := c.program.store
	if s.op.state && (!s.op.reads || store.changing) || slices.ContainsFunc(s.in, func(in source) bool { return in.constant == nil }) {
		return nil, nil
	}
	r := &running{frame: frame{store: store, engine: c.engine}, calls: []call{s.call()}}
	k := &r.calls[0]
	k.frame = &r.frame
	for i, in := range s.in {
		k.in[i] = in.constant
	}
	err := guarded(k.execute)
	if err != nil && (len(s.in) == 0 || s.op.reads) {
		return nil, err
	}
	if err != nil || r.bytes > store.most.folded-c.program.folded {
		return nil, nil
	}
	c.program.folded += r.bytes
	outs := make([]source, s.out)
	for i := range outs {
		outs[i].constant = k.out[i]
	}
	return outs, nil
}
