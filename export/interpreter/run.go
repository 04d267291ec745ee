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
	r := p.idle.Get().(*running)
	wide := p.store.many != nil && p.store.wide.TryLock()
	if wide {
		r.engine = p.store.many
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
	n, err := elements(t.lane().size(), t.Shape, maxBytes)
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
		if !port.Fits(inputs[i].Shape) {
			return fmt.Errorf("input %s has shape %v, want %v: %w", port.Key, inputs[i].Shape, port.Shape, err)
		}
	}
	return err
}

// Limits of memory: of a tensor that a run makes or of the constants of a graph, and of all that a
// run makes.
const (
	maxBytes    = 1 << 30
	maxRunBytes = 4 << 30
)

// frame is what the calls of a run have in common.
type frame struct {
	store  *store
	engine *kernel.Engine
	once   bool // it runs once: a variable may keep its tensors
	bytes  int  // made in this run
	walk   walk // of the call that runs
}

// running is the memory of one run of a program at a time.
type running struct {
	frame
	narrow *kernel.Engine // on one core
	inputs []Tensor
	calls  []call
	at     int  // the call that runs
	broken bool // an operation has panicked: nothing uses the engine again
}

// newRun returns memory that has not run yet.
func (p *Program) newRun() *running {
	r := &running{frame: frame{store: p.store, engine: newEngine()}, inputs: make([]Tensor, len(p.Inputs)), calls: make([]call, 0, len(p.steps))}
	r.narrow = r.engine
	for _, n := range p.steps {
		r.calls = append(r.calls, r.call(n))
	}
	return r
}

// call returns a call of a node, of which the steps before have one.
func (r *running) call(n *node) call {
	c := call{node: n, frame: &r.frame, in: make([]*Tensor, len(n.in)), out: make([]*Tensor, n.outputs), own: make([]Tensor, n.outputs)}
	for i := range c.out {
		c.out[i] = &Tensor{}
	}
	for i := range n.in {
		c.in[i] = r.tensor(n.input(i))
	}
	return c
}

// reserve returns the number of values of a tensor, which take size bytes each. It refuses one that may not be so large.
func (f *frame) reserve(size int, shape []int) int {
	n := sure(elements(size, shape, maxBytes))
	if f.bytes += n * size; f.bytes > f.store.most.run {
		refuse("the run takes more than %d bytes", f.store.most.run)
	}
	return n
}

func newEngine() *kernel.Engine {
	sets := kernel.Sets()
	return kernel.New(sets[len(sets)-1], 1)
}

// tensor returns the place of the value of an output.
func (r *running) tensor(o output) *Tensor {
	switch n := o.node; {
	case n.constants != nil:
		return n.constants[o.number]
	case n.op == nil:
		return &r.inputs[n.place]
	default:
		return r.calls[n.place].out[o.number]
	}
}

// run executes all calls for inputs, and returns copies of the results.
func (r *running) run(inputs []*Tensor, results []output) (answers []*Tensor, err error) {
	for i, t := range inputs {
		r.inputs[i] = *t
	}
	r.bytes, r.at = 0, -1
	r.broken, err = guarded(func() { answers = r.execute(results) })
	if err != nil && r.at >= 0 {
		err = fmt.Errorf("%v: %w", r.calls[r.at].node, err)
	}
	return answers, err
}

func (r *running) execute(results []output) []*Tensor {
	for r.at = range r.calls {
		r.calls[r.at].execute()
	}
	answers := make([]*Tensor, len(results))
	for i, from := range results {
		answers[i] = r.tensor(from).clone()
	}
	return answers
}

func (c *call) execute() {
	o := c.node.op
	if !c.checked {
		o.accept(c.in)
		c.checked = true
	}
	if o.shape != nil {
		o.shape(c)
	}
	if o.run != nil {
		o.run(c)
	}
}
