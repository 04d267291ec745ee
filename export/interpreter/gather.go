package interpreter

import (
	"errors"
	"fmt"
	"slices"

	"ringtrain/export/tfpb"
)

func bindGather(n *node) (any, error) { return n.integer("batch_dims", 0), nil }

// gather takes the rows of input 0 that the indices name:
//
//	params [batch…, outer…, rows, inner…]   indices [batch…, n…]   output [batch…, outer…, n…, inner…]
func gather(c *call) error {
	axis, err := c.scalar(2)
	if err != nil {
		return err
	}
	return c.gatherRows(c.in[0], c.in[1], axis)
}

// resourceGather takes rows of a variable.
func resourceGather(c *call) error {
	params, err := c.variable(0)
	if err != nil {
		return err
	}
	return c.gatherRows(params, c.in[1], c.bound.(int))
}

func (c *call) gatherRows(params, indices *Tensor, axis int) error {
	in, of := params.Shape, indices.Shape
	axis, err := within(axis, len(in))
	if err != nil {
		return err
	}
	batch := c.bound.(int)
	if batch < 0 {
		batch += len(of)
	}
	if batch < 0 || batch > axis || batch > len(of) || !slices.Equal(in[:batch], of[:batch]) {
		return fmt.Errorf("batch_dims is %d for rows of shape %v and indices of shape %v", c.bound, slices.Clone(in), slices.Clone(of))
	}
	if len(in)-1+len(of)-batch > maxDims {
		return errRank
	}
	var shape [maxDims]int
	rank := copy(shape[:], in[:axis])
	rank += copy(shape[rank:], of[batch:])
	rank += copy(shape[rank:], in[axis+1:])
	if err := c.make(0, params.Type, shape[:rank]...); err != nil {
		return err
	}
	rows, width := in[axis], Elements(in[axis+1:])
	lists, outer, n := Elements(in[:batch]), Elements(in[batch:axis]), Elements(of[batch:])
	for i := range Elements(of) {
		if row := indices.integer(i); row < 0 || row >= rows {
			return fmt.Errorf("index %d is %d, want 0 to %d", i, row, rows-1)
		}
	}
	for i := range lists * outer {
		table, own := i*rows, i/outer*n
		for k := range n {
			c.out[0].take((i*n+k)*width, params, (table+indices.integer(own+k))*width, width)
		}
	}
	return nil
}

// shapeGatherNd: params [d…, inner…]   indices [n…, number of d]   output [n…, inner…]
func shapeGatherNd(c *call) error {
	in, of := c.in[0].Shape, c.in[1].Shape
	if len(of) < 1 || of[len(of)-1] > len(in) {
		return fmt.Errorf("indices of shape %v for a tensor of shape %v", of, in)
	}
	last := len(of) - 1
	if last+len(in)-of[last] > maxDims {
		return errRank
	}
	var shape [maxDims]int
	rank := copy(shape[:], of[:last])
	rank += copy(shape[rank:], in[of[last]:])
	return c.make(0, c.in[0].Type, shape[:rank]...)
}

func gatherNd(c *call) error {
	params, indices := c.in[0], c.in[1]
	dims := indices.Shape[len(indices.Shape)-1]
	width := Elements(params.Shape[dims:])
	for i := range Elements(indices.Shape[:len(indices.Shape)-1]) {
		row := 0
		for d, size := range params.Shape[:dims] {
			at := indices.integer(i*dims + d)
			if at < 0 || at >= size {
				return fmt.Errorf("index %d of dimension %d is %d, want 0 to %d", i, d, at, size-1)
			}
			row = row*size + at
		}
		c.out[0].take(i*width, params, row*width, width)
	}
	return nil
}

// oneHot writes the on value where the index says, and the off value elsewhere:
//
//	indices [outer…, inner…]   output [outer…, depth, inner…]
func oneHot(c *call) error {
	indices, in := c.in[0], c.in[0].Shape
	depth, err := c.scalar(1)
	if err != nil {
		return err
	}
	axis := c.bound.(int)
	if axis == -1 {
		axis = len(in)
	}
	if len(in) >= maxDims || axis < 0 || axis > len(in) || len(c.in[2].Shape)+len(c.in[3].Shape) > 0 {
		return fmt.Errorf("axis %d, on and off of the inputs %s", axis, shapes(c.in))
	}
	var shape [maxDims]int
	copy(shape[:], in[:axis])
	shape[axis] = depth
	copy(shape[axis+1:], in[axis:])
	if err := c.make(0, c.in[2].Type, shape[:len(in)+1]...); err != nil {
		return err
	}
	c.out[0].repeat(c.in[3], 0)
	inner := Elements(in[axis:])
	for i := range Elements(in) {
		if at := indices.integer(i); at >= 0 && at < depth {
			c.out[0].take((i/inner*depth+at)*inner+i%inner, c.in[2], 0, 1)
		}
	}
	return nil
}

// where lists the places of the true values.
func where(c *call) error {
	in, n := c.in[0], 0
	for _, v := range in.Bool {
		if v {
			n++
		}
	}
	rank := len(in.Shape)
	if rank == 0 {
		return errors.New("the input is a scalar")
	}
	if err := c.make(0, tfpb.DataType_DT_INT64, n, rank); err != nil {
		return err
	}
	places := c.out[0].Int64
	for i, v := range in.Bool {
		if !v {
			continue
		}
		for d := rank - 1; d >= 0; d-- {
			places[d] = int64(i % in.Shape[d])
			i /= in.Shape[d]
		}
		places = places[rank:]
	}
	return nil
}
