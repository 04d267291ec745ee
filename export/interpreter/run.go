package interpreter

import (
	"fmt"
	"slices"

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
	r := p.idle.Get().(*running)
	many := p.store.many
	wide := many != nil && p.store.wide.TryLock()
	if wide {
		r.engine = many
	}
	answers, err := r.run(inputs, p.results)
	r.engine = r.narrow
	if wide && !r.broken {
		p.store.wide.Unlock()
	}
	if err != nil {
		return nil, p.explain(inputs, err)
	}
	clear(r.inputs)
	p.idle.Put(r)
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
	n, err := elements(t.Type, t.Shape, maxBytes)
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
	return pattern == nil || slices.EqualFunc(shape, pattern, func(have, want int) bool { return want < 0 || have == want })
}

// running is the memory of one run of a program at a time.
type running struct {
	frame
	narrow *kernel.Engine // on one core
	inputs []Tensor
	calls  []call
	at     int  // the call that runs
	broken bool // an operation runs, or has panicked: then nothing uses the engine again
}

// newRun returns memory that has not run yet.
func (p *Program) newRun() *running {
	r := &running{frame: frame{store: p.store, engine: newEngine()}, calls: make([]call, len(p.steps)), inputs: make([]Tensor, p.inputs)}
	r.narrow = r.engine
	for i := range p.steps {
		r.calls[i] = p.steps[i].call()
		r.calls[i].frame = &r.frame
	}
	for i := range p.steps {
		for k, in := range p.steps[i].in {
			r.calls[i].in[k] = r.tensor(in)
		}
	}
	return r
}

func newEngine() *kernel.Engine {
	sets := kernel.Sets()
	return kernel.New(sets[len(sets)-1], 1)
}

// call returns a call of the step, without its inputs and its frame.
func (s *step) call() call {
	c := call{node: s.node, op: s.op, bound: s.bound, fused: s.fused}
	c.in, c.out, c.own = make([]*Tensor, len(s.in)), make([]*Tensor, s.out), make([]Tensor, s.out)
	for i := range c.out {
		c.out[i] = &Tensor{}
	}
	return c
}

// tensor returns the place of the value that a source means.
func (r *running) tensor(s source) *Tensor {
	switch {
	case s.constant != nil:
		return s.constant
	case s.step < 0:
		return &r.inputs[s.out]
	}
	return r.calls[s.step].out[s.out]
}

// run executes all calls for inputs, and returns copies of the results.
func (r *running) run(inputs []*Tensor, results []source) (answers []*Tensor, err error) {
	for i, t := range inputs {
		r.inputs[i] = *t
	}
	r.bytes, r.at, r.broken = 0, -1, true
	err = guarded(func() error {
		var err error
		answers, err = r.execute(results)
		r.broken = false
		return err
	})
	if err != nil && r.at >= 0 {
		err = fmt.Errorf("%v: %w", r.calls[r.at].node, err)
	}
	return answers, err
}

func (r *running) execute(results []source) ([]*Tensor, error) {
	for r.at = range r.calls {
		if err := r.calls[r.at].execute(); err != nil {
			return nil, err
		}
	}
	answers := make([]*Tensor, len(results))
	for i, from := range results {
		answers[i] = r.tensor(from).clone()
	}
	return answers, nil
}

func (c *call) execute() error {
	if !c.checked {
		if err := c.op.accepts(c.in); err != nil {
			return err
		}
		c.checked = true
	}
	if c.op.shape != nil {
		if err := c.op.shape(c); err != nil {
			return err
		}
	}
	if c.op.run == nil {
		return nil
	}
	return c.op.run(c)
}
