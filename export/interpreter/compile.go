package interpreter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ringtrain/model/kernel"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// maxFolded bounds what a program keeps of the constants that it has computed. What is larger is
// computed in each run: the memory of a process does not grow with the variables of a model.
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
	i := slices.IndexFunc(m.Signatures, func(s Signature) bool { return s.Name == signature })
	if i < 0 {
		names := make([]string, len(m.Signatures))
		for i, s := range m.Signatures {
			names[i] = s.Name
		}
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("no signature %s, only %s", phrase.Name(signature), phrase.Names(names, 20)))
	}
	if outputs == nil {
		return m.programs[i], nil
	}
	s := m.Signatures[i]
	wanted := make([]Port, len(outputs))
	for k, key := range outputs {
		i := slices.IndexFunc(s.Outputs, func(p Port) bool { return p.Key == key })
		if i < 0 {
			return nil, exitcode.With(exitcode.BadData, fmt.Errorf("signature %s has no output %s", phrase.Name(signature), phrase.Name(key)))
		}
		wanted[k] = s.Outputs[i]
	}
	p, err := m.signature(s, wanted)
	return p, exitcode.With(exitcode.BadData, err)
}

// signature compiles a signature for the outputs that are wanted.
func (m *Model) signature(s Signature, wanted []Port) (*Program, error) {
	p, err := m.compile(tensors(s.Inputs), tensors(wanted), "")
	if err != nil {
		return nil, fmt.Errorf("signature %s: %w", phrase.Name(s.Name), err)
	}
	p.Inputs, p.Outputs = s.Inputs, wanted
	return p, nil
}

// compileAll compiles each signature with all of its outputs, and finds the features of its examples.
func (m *Model) compileAll() error {
	for i := range m.Signatures {
		s := &m.Signatures[i]
		p, err := m.signature(*s, s.Outputs)
		if err != nil {
			return err
		}
		if s.Features, err = p.features(); err != nil {
			return fmt.Errorf("signature %s: %w", phrase.Name(s.Name), err)
		}
		m.programs = append(m.programs, p)
	}
	return nil
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
			return nil, fmt.Errorf("%s (%s): %w", s.node.name, s.node.op, err)
		}
		all = append(all, some...)
	}
	byName := func(a, b Feature) int { return strings.Compare(a.Name, b.Name) }
	slices.SortStableFunc(all, byName)
	return slices.CompactFunc(all, func(a, b Feature) bool { return byName(a, b) == 0 }), nil
}

// reach returns the vertices that tensors or a node need, in an order in which they can run. The
// first targets of the expansion are the tensors.
func (m *Model) reach(feeds, fetches []string, node string) (*expansion, []output, []*vertex, error) {
	e, err := newExpansion(m.lib, feeds)
	if err != nil {
		return nil, nil, nil, err
	}
	var fetched []output
	for _, name := range fetches {
		out, err := e.tensor(e.main, name)
		if err != nil {
			return nil, nil, nil, err
		}
		fetched = append(fetched, out)
		e.targets = append(e.targets, out.vertex)
	}
	if node != "" {
		vs, err := e.control(e.main, node)
		if err != nil {
			return nil, nil, nil, err
		}
		e.targets = append(e.targets, vs...)
	}
	if err := e.finish(); err != nil {
		return nil, nil, nil, err
	}
	order, err := e.sorted()
	return e, fetched, order, err
}

func (m *Model) compile(feeds, fetches []string, node string) (*Program, error) {
	e, fetched, order, err := m.reach(feeds, fetches, node)
	if err == nil {
		err = refuse(e.unknown)
	}
	if err != nil {
		return nil, err
	}
	c := &compiler{program: &Program{store: m.store, inputs: len(feeds)}, sources: map[*vertex][]source{}, constant: map[*vertex]bool{}, uses: map[*vertex]int{}, starting: node != "", engine: newEngine()}
	for _, v := range order {
		for _, from := range v.from {
			c.uses[from]++
		}
	}
	for _, out := range fetched {
		c.uses[out.vertex]++
	}
	for _, v := range order {
		if err := c.add(v); err != nil {
			return nil, fmt.Errorf("%s (%s): %w", v.name, v.node.op, err)
		}
	}
	for _, out := range fetched {
		s, err := c.source(out.vertex, out.out)
		if err != nil {
			return nil, err
		}
		c.program.results = append(c.program.results, s)
	}
	c.program.idle.New = func() any { return c.program.newRun() }
	return c.program, nil
}

// compiler makes the steps of a program out of its vertices.
type compiler struct {
	program  *Program
	sources  map[*vertex][]source // of the outputs
	constant map[*vertex]bool     // it has been computed
	uses     map[*vertex]int      // of the outputs
	starting bool                 // the program gives the variables their values
	engine   *kernel.Engine
}

// source returns where output out of v comes from.
func (c *compiler) source(v *vertex, out int) (source, error) {
	all := c.sources[v]
	if out >= len(all) {
		return source{}, fmt.Errorf("%s has no output %d", v.name, out)
	}
	return all[out], nil
}

// add makes v a step, or constants if it is the same in each run.
func (c *compiler) add(v *vertex) error {
	if v.input >= 0 {
		c.sources[v] = []source{{step: -1, out: v.input}}
		return nil
	}
	s := step{node: &v.node, op: v.op}
	for i, from := range v.from {
		in, err := c.source(from, v.outs[i])
		if err != nil {
			return err
		}
		s.in = append(s.in, in)
	}
	var err error
	if s.out, _, err = v.op.outputs(s.node, ""); err != nil {
		return err
	}
	if v.op.bind != nil {
		if s.bound, err = v.op.bind(s.node); err != nil {
			return err
		}
	}
	if folded, err := c.fold(v, &s); folded || err != nil {
		return err
	}
	if c.fuse(v, &s) {
		c.sources[v] = c.sources[v.from[0]]
		return nil
	}
	c.program.steps = append(c.program.steps, s)
	outs := make([]source, s.out)
	for i := range outs {
		outs[i] = source{step: len(c.program.steps) - 1, out: i}
	}
	c.sources[v] = outs
	return nil
}

// fold computes a step whose outputs are the same in each run. It reports false if the step remains:
// the step depends on an input, or has large outputs, or an error, which is then that of each run. Only
// a constant that the file itself has may not fail.
func (c *compiler) fold(v *vertex, s *step) (bool, error) {
	if slices.ContainsFunc(v.needs(), func(need *vertex) bool { return !c.constant[need] }) {
		return false, nil
	}
	if v.op.state {
		variable := c.reads(s)
		if variable == nil || variable.assigned {
			return false, nil
		}
		if _, err := variable.get(); err != nil {
			return false, err
		}
	}
	r := &running{frame: frame{store: c.program.store, engine: c.engine}, calls: make([]call, 1)}
	r.calls[0] = r.call(s)
	for i, in := range s.in {
		r.calls[0].in[i] = in.constant
	}
	if err := r.execute(); err != nil || r.bytes > maxFolded-c.program.folded {
		if len(s.in) == 0 {
			return false, errors.Unwrap(err)
		}
		return false, nil
	}
	c.program.folded += r.bytes
	outs := make([]source, s.out)
	for i := range outs {
		outs[i] = source{constant: r.calls[0].out[i]}
	}
	c.sources[v], c.constant[v] = outs, true
	return true, nil
}

// reads returns the variable that a step reads, or nil if it does more or the variable has no value
// yet.
func (c *compiler) reads(s *step) *variable {
	switch {
	case !s.op.reads || c.starting:
		return nil // while the model is loaded, each variable is still assigned
	case isVariable(s.node):
		return c.program.store.variable(s.node)
	case len(s.in) == 0:
		return nil
	}
	v, _ := s.in[0].constant.resource.(*variable)
	return v
}
