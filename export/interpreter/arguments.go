package interpreter

import (
	"cmp"
	"slices"

	"ringtrain/export/tfpb"
)

// An axis, a list of axes and the like come with the graph: one that does not fit a tensor is an index
// out of range, which is the error of the run. Only a request's shapes and indices are checked by hand.

// dims puts a shape together. It is valid until the next call.
func (c *call) dims(parts ...[]int) []int {
	c.sizes = c.sizes[:0]
	for _, p := range parts {
		c.sizes = append(c.sizes, p...)
	}
	return c.sizes
}

// list returns the integers of input i. It is valid until the next call for i.
func (c *call) list(i int) []int {
	for len(c.lists) <= i {
		c.lists = append(c.lists, nil)
	}
	all := c.lists[i][:0]
	for _, v := range c.in[i].Int32 {
		all = append(all, int(v))
	}
	for _, v := range c.in[i].Int64 {
		all = append(all, int(v))
	}
	c.lists[i] = all
	return all
}

// axis returns the axis that input i names in a tensor of a rank. A negative one counts from the end.
func (c *call) axis(i, rank int) int { return within(c.in[i].integer(0), rank) }

func within(axis, rank int) int {
	if axis < -rank || axis >= rank {
		refuse("axis %d of a tensor of rank %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis
}

// want refuses inputs whose shapes do not fit.
func (c *call) want(fit bool, want string) {
	if fit {
		return
	}
	shapes := make([][]int, len(c.in))
	for i, t := range c.in {
		shapes[i] = slices.Clone(t.Shape)
	}
	refuse("inputs of shapes %v, want %s", shapes, want)
}

// wantIndex refuses index i if it is outside of a dimension.
func wantIndex(i, index, size int) {
	if index < 0 || index >= size {
		refuse("index %d is %d, want 0 to %d", i, index, size-1)
	}
}

// likeInput returns the rule for an output of the shape of input 0 and of type t, or of its type with 0.
func likeInput(t tfpb.DataType) func(c *call) {
	return func(c *call) { c.make(0, cmp.Or(t, c.in[0].Type), c.in[0].Shape...) }
}

// broadcast makes output 0 a tensor of type t with the common shape of all inputs, as NumPy has it. It returns a walk
// over the output, operand 0, and three inputs, of which the last one repeats.
func (c *call) broadcast(t tfpb.DataType) *walk {
	rank := 0
	for _, t := range c.in {
		rank = max(rank, len(t.Shape))
	}
	shape := c.dims()
	for range rank {
		shape = append(shape, 1)
	}
	c.sizes = shape
	for _, t := range c.in {
		own := shape[rank-len(t.Shape):]
		for d, size := range t.Shape {
			if own[d] == 1 {
				own[d] = size
			}
			c.want(size == 1 || size == own[d], "shapes that broadcast")
		}
	}
	c.make(0, t, shape...)
	w := c.walk()
	for d, size := range shape {
		step := [4]int{Elements(shape[d+1:])}
		for k := range 3 {
			in := c.in[min(k, len(c.in)-1)].Shape
			if i := d - rank + len(in); i >= 0 && in[i] != 1 {
				step[k+1] = Elements(in[i+1:])
			}
		}
		w.dim(size, step)
	}
	return w
}

// take copies n values of src, which has the same type, from one place to another.
func (t *Tensor) take(at int, src *Tensor, from, n int) {
	t.lane().move(t, src, pieces{at, n, from, n, 1, n, nil})
}
