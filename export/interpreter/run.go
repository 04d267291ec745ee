package interpreter

import (
	"fmt"

	"ringtrain/model/kernel"
)

// Run computes the outputs for inputs, both in the order of the program. The answers belong to the
// caller; the inputs must not change until Run returns. Any number of goroutines may call Run.
func (p *Program) Run(inputs []*Tensor) ([]*Tensor, error) {
	if len(inputs) != len(p.Inputs) {
		return nil, fmt.Errorf("%d inputs, want %d", len(inputs), len(p.Inputs))
	}
	for i, port := range p.Inputs {
		if err := inputs[i].fits(port); err != nil {
			return nil, err
		}
	}
	f := p.frames.Get().(*frame)
	m := p.model
	f.engine = f.own
	wide := m.many != nil && m.wide.TryLock()
	if wide {
		f.engine = m.many
	}
	err := f.run(p, inputs)
	if wide {
		m.wide.Unlock()
	}
	if err != nil {
		return nil, p.explain(inputs, err)
	}
	answers := make([]*Tensor, len(p.results))
	for i, r := range p.results {
		answers[i] = f.tensor(r).clone()
	}
	clear(f.inputs)
	p.frames.Put(f)
	return answers, nil
}

// fits returns an error if t is no value for a port. The shape may differ from that of the
// signature, as in TensorFlow; the operations decide.
func (t *Tensor) fits(p Port) error {
	switch {
	case t == nil:
		return fmt.Errorf("input %s is missing", p.Key)
	case t.Type != p.Type:
		return fmt.Errorf("input %s is %v, want %v", p.Key, t.Type, p.Type)
	}
	n, err := elements(t.Type, t.Shape)
	if err == nil && n != t.length() {
		err = fmt.Errorf("%d values for shape %v", t.length(), t.Shape)
	}
	if err != nil {
		return fmt.Errorf("input %s: %w", p.Key, err)
	}
	return nil
}

// explain adds to the error of a run that an input has not the shape of the signature.
func (p *Program) explain(inputs []*Tensor, err error) error {
	for i, port := range p.Inputs {
		if !like(inputs[i].Shape, port.Shape) {
			return fmt.Errorf("input %s has shape %v, want %v: %w", port.Key, inputs[i].Shape, port.Shape, err)
		}
	}
	return err
}

// like reports whether a shape is one of those that a pattern means.
func like(shape, pattern []int) bool {
	if pattern == nil {
		return true
	}
	if len(shape) != len(pattern) {
		return false
	}
	for i, d := range pattern {
		if d >= 0 && d != shape[i] {
			return false
		}
	}
	return true
}

// newFrame returns the memory of a run.
func (p *Program) newFrame() *frame {
	f := &frame{model: p.model, own: newEngine(), calls: make([]call, len(p.steps)), inputs: make([]Tensor, p.inputs)}
	f.engine = f.own
	for i := range p.steps {
		f.calls[i] = newCall(f, &p.steps[i])
	}
	for i := range p.steps {
		for k, in := range p.steps[i].in {
			f.calls[i].in[k] = f.tensor(in)
		}
	}
	return f
}

func newEngine() *kernel.Engine {
	sets := kernel.Sets()
	return kernel.New(sets[len(sets)-1], 1)
}

func newCall(f *frame, s *step) call {
	c := call{node: &s.vertex.node, bound: s.bound, frame: f, step: s}
	c.in = make([]*Tensor, len(s.in))
	c.own = make([]Tensor, s.out)
	c.out = make([]*Tensor, s.out)
	for i := range c.out {
		c.out[i] = &Tensor{}
	}
	return c
}

// tensor returns the place of the value that a source means.
func (f *frame) tensor(s source) *Tensor {
	switch {
	case s.constant != nil:
		return s.constant
	case s.step < 0:
		return &f.inputs[s.out]
	}
	return f.calls[s.step].out[s.out]
}

// run executes the steps of p.
func (f *frame) run(p *Program, inputs []*Tensor) error {
	for i, t := range inputs {
		f.inputs[i] = *t
	}
	f.bytes = 0
	return f.execute()
}

// execute runs the calls in order. A node that its operation cannot have, as only a damaged graph
// has one, is an error.
func (f *frame) execute() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = f.failed(fmt.Errorf("the node is damaged, or its operation is: %v", r))
		}
	}()
	for f.at = range f.calls {
		c := &f.calls[f.at]
		o := c.step.vertex.op
		if o.shape != nil {
			if err := o.shape(c); err != nil {
				return f.failed(err)
			}
		}
		if o.run != nil {
			if err := o.run(c); err != nil {
				return f.failed(err)
			}
		}
	}
	return nil
}

func (f *frame) failed(err error) error {
	n := f.calls[f.at].node
	return fmt.Errorf("%s (%s): %w", n.name, n.op, err)
}
