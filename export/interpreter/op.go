package interpreter

import (
	"slices"

	"ringtrain/export/tfpb"
	"ringtrain/model/kernel"
)

// op is an operation of TensorFlow.
type op struct {
	name  string
	types []tfpb.DataType            // that the attribute T may have (of an operation without T: its first type attribute); nil: any
	bind  func(n *node) (any, error) // reads the attributes once, when a program is compiled; nil: there are none to read
	shape func(c *call) error        // calls make for each output; nil: run does it, because the values decide the shape
	run   func(c *call) error        // sets the values of the outputs
	state bool                       // reads or changes a variable or a table: its answer is no constant
}

// operations returns all operations of the interpreter.
func operations() []op {
	return slices.Concat(stateOps(), arrayOps(), mathOps(), reductionOps(), networkOps(), stringOps(), raggedOps(), tableOps(), parseOps())
}

// call is one execution of a node. Its inputs belong to other nodes or to the caller of Run. What it
// makes belongs to the run, and is valid until the run ends.
type call struct {
	node    *node
	bound   any // what bind returned
	in, out []*Tensor
	frame   *frame
}

// engine returns the kernels of the run.
func (c *call) engine() *kernel.Engine { return c.frame.engine }

// make gives output i a type, a shape and values, which are those of an earlier run and not zero. It
// takes memory only where no earlier run had as much. The error is that of a limit.
func (c *call) make(i int, t tfpb.DataType, shape ...int) error {
	n, err := c.frame.reserve(t, shape)
	if err != nil {
		return err
	}
	c.out[i].resize(t, shape, n)
	return nil
}

// share makes output i the values of t in another shape, without a copy.
func (c *call) share(i int, t *Tensor, shape ...int) {
	*c.out[i] = *t
	c.out[i].Shape = append([]int(nil), shape...)
}
