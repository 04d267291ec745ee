package interpreter

import (
	"slices"
	"strconv"
	"strings"

	"ringtrain/export/tfpb"
	"ringtrain/model/kernel"
)

// op is an operation of TensorFlow.
type op struct {
	name    string
	kinds   string            // of the inputs; see accept
	out     string            // ports of the outputs: "indices+values", "tensors*dtypes" of as many as an attribute says; "": one, "0": none
	types   []tfpb.DataType   // that the attribute T may have (of an operation without T: its first type attribute); nil: any
	attrs   string            // that it must have, "pattern"; or of which one value is known here, "exclusive=false"
	bind    func(n *node) any // reads the attributes once, when a program is compiled; nil: there are none to read
	shape   func(c *call)     // calls make for each output; nil: run does it, because the values decide the shape
	run     func(c *call)     // sets the values of the outputs
	state   bool              // reads or changes a variable or a table: its answer is no constant
	reads   bool              // reads the variable of input 0, or its own: a constant if nothing assigns the variable
	assigns bool              // changes the variable of input 0
}

// operations returns all operations of the interpreter.
func operations() []op {
	return slices.Concat(stateOps(), arrayOps(), mathOps(), reductionOps(), networkOps(), stringOps(), raggedOps(), tableOps(), parseOps())
}

// outputs returns the number of outputs of a node, and of those before a port.
func (o *op) outputs(n *node, port string) (all, before int) {
	for term := range strings.SplitSeq(o.out, "+") {
		name, counter, many := strings.Cut(term, "*")
		k := 1
		if number, err := strconv.Atoi(term); err == nil {
			k = number
		} else if many {
			k = n.length(counter)
		}
		if k < 0 || k > maxOutputs {
			refuse("attribute %s counts %d, want 0 to %d", counter, k, maxOutputs)
		}
		if name == port {
			before = all
		}
		all += k
	}
	return all, before
}

// call is one execution of a node. Its inputs belong to other nodes or to the caller of Run. What it
// makes belongs to the run, and is valid until the run ends.
type call struct {
	node    *node
	frame   *frame
	in, out []*Tensor
	scratch any // memory of the node that it keeps from run to run; nil at first. Runs at the same time have each their own.

	sizes   []int    // memory of dims
	lists   [][]int  // and of list
	checked bool     // the inputs have the right types: they are the same in each run
	own     []Tensor // the memory of the outputs: out[i] is a copy of own[i] or of what it shares
}

// engine returns the kernels of the run.
func (c *call) engine() *kernel.Engine { return c.frame.engine }

// make gives output i a type, a shape and values, which are those of an earlier run and not zero. It
// takes memory only where no earlier run had as much, and refuses more than the limits.
func (c *call) make(i int, t tfpb.DataType, shape ...int) {
	own, lane := &c.own[i], laneOf(t)
	own.Type = t
	own.Shape = append(own.Shape[:0], shape...)
	lane.resize(own, c.frame.reserve(lane.size(), shape))
	*c.out[i] = *own
}

// share makes output i the values of t in another shape, without a copy. A value of a variable is not the
// variable any more.
func (c *call) share(i int, t *Tensor, shape ...int) {
	own, out := &c.own[i], c.out[i]
	own.Shape = append(own.Shape[:0], shape...)
	*out = *t
	out.Shape = own.Shape
	if t.Type != tfpb.DataType_DT_RESOURCE {
		out.resource = nil
	}
}
