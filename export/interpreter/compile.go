package interpreter

import (
	"cmp"
	"fmt"
	"slices"
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

	model   *Model
	steps   []step
	results []source // of Outputs
	inputs  int      // how many
	frames  sync.Pool
	folded  int // bytes of computed constants
}

// step is a node that each run executes.
type step struct {
	vertex *vertex
	bound  any
	in     []source
	out    int // how many
}

// source is where the value of a tensor comes from.
type source struct {
	constant *Tensor // nil: it is no constant
	step     int     // -1: output out is an input of the program
	out      int
}

// Compile prepares a signature. outputs are the keys that are wanted, nil all of them.
func (m *Model) Compile(signature string, outputs []string) (*Program, error) {
	i := slices.IndexFunc(m.Signatures, func(s Signature) bool { return s.Name == signature })
	if i < 0 {
		names := make([]string, len(m.Signatures))
		for i, s := range m.Signatures {
			names[i] = s.Name
		}
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("no signature %s, only %s", phrase.Name(signature), phrase.Names(names, 20)))
	}
	s := m.Signatures[i]
	wanted := s.Outputs
	if outputs != nil {
		wanted = nil
		for _, key := range outputs {
			i := slices.IndexFunc(s.Outputs, func(p Port) bool { return p.Key == key })
			if i < 0 {
				return nil, exitcode.With(exitcode.BadData, fmt.Errorf("signature %s has no output %s", phrase.Name(signature), phrase.Name(key)))
			}
			wanted = append(wanted, s.Outputs[i])
		}
	}
	p, err := m.compile(tensors(s.Inputs), tensors(wanted), "")
	if err != nil {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("interpreter: %s: signature %s: %w", m.Path, phrase.Name(signature), err))
	}
	p.Inputs, p.Outputs = s.Inputs, wanted
	return p, nil
}

// reach returns the vertices that tensors or a node need, in an order in which they can run. The
// first targets of the expansion are the tensors.
func (m *Model) reach(feeds, fetches []string, node string) (*expansion, []edge, []*vertex, error) {
	x, err := newExpansion(m.lib, feeds)
	if err != nil {
		return nil, nil, nil, err
	}
	var fetched []edge
	for _, name := range fetches {
		e, err := x.tensor(x.main, name)
		if err != nil {
			return nil, nil, nil, err
		}
		fetched = append(fetched, e)
		x.targets = append(x.targets, e.from)
	}
	if node != "" {
		vs, err := x.control(x.main, node)
		if err != nil {
			return nil, nil, nil, err
		}
		x.targets = append(x.targets, vs...)
	}
	if err := x.finish(); err != nil {
		return nil, nil, nil, err
	}
	order, err := x.sorted()
	return x, fetched, order, err
}

func (m *Model) compile(feeds, fetches []string, node string) (*Program, error) {
	x, fetched, order, err := m.reach(feeds, fetches, node)
	if err == nil {
		err = refuse(x.unknown)
	}
	if err != nil {
		return nil, err
	}
	c := &compiler{program: &Program{model: m, inputs: len(feeds)}, sources: map[*vertex][]source{}, constant: map[*vertex]bool{}, starting: node != "", engine: newEngine()}
	for _, v := range order {
		if err := c.add(v); err != nil {
			return nil, fmt.Errorf("%s (%s): %w", v.name, v.node.op, err)
		}
	}
	for _, e := range fetched {
		s, err := c.source(e)
		if err != nil {
			return nil, err
		}
		c.program.results = append(c.program.results, s)
	}
	c.program.frames.New = func() any { return c.program.newFrame() }
	return c.program, nil
}

// compiler makes the steps of a program out of its vertices.
type compiler struct {
	program  *Program
	sources  map[*vertex][]source // of the outputs
	constant map[*vertex]bool     // it has been computed
	starting bool                 // the program gives the variables their values
	engine   *kernel.Engine
}

func (c *compiler) source(e edge) (source, error) {
	all := c.sources[e.from]
	if e.out >= len(all) {
		return source{}, fmt.Errorf("%s has no output %d", e.from.name, e.out)
	}
	return all[e.out], nil
}

// add makes v a step, or constants if it is the same in each run.
func (c *compiler) add(v *vertex) error {
	if v.input >= 0 {
		c.sources[v] = []source{{step: -1, out: v.input}}
		return nil
	}
	s := step{vertex: v}
	for _, e := range v.in {
		in, err := c.source(e)
		if err != nil {
			return err
		}
		s.in = append(s.in, in)
	}
	var err error
	if s.out, err = count(&v.node, cmp.Or(v.op.out, "1")); err != nil {
		return err
	}
	if v.op.bind != nil {
		if s.bound, err = v.op.bind(&v.node); err != nil {
			return err
		}
	}
	if c.fold(&s) {
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
// an error of the step is that of each run, not of the program.
func (c *compiler) fold(s *step) bool {
	v := s.vertex
	if v.op.state && !(v.op.reads && c.fixed(s)) || slices.ContainsFunc(v.needs(), func(need *vertex) bool { return !c.constant[need] }) {
		return false
	}
	f := &frame{model: c.program.model, engine: c.engine}
	f.calls = []call{newCall(f, s)}
	for i, in := range s.in {
		f.calls[0].in[i] = in.constant
	}
	if f.execute() != nil {
		return false
	}
	k := &f.calls[0]
	if f.bytes > maxFolded-c.program.folded {
		return false
	}
	c.program.folded += f.bytes
	outs := make([]source, s.out)
	for i := range outs {
		outs[i] = source{constant: k.out[i]}
	}
	c.sources[v], c.constant[v] = outs, true
	return true
}

// fixed reports whether nothing that a request can run changes the variable that a step reads.
func (c *compiler) fixed(s *step) bool {
	if c.starting {
		return false
	}
	if isVariable(s.vertex) {
		return !c.program.model.variable(&s.vertex.node).assigned
	}
	if len(s.in) == 0 || s.in[0].constant == nil {
		return false
	}
	v, ok := s.in[0].constant.resource.(*variable)
	return ok && !v.assigned
}
