package interpreter

import (
	"errors"
	"fmt"
	"slices"

	"ringtrain/export/tfpb"
)

func gather(c *call) error {
	axis, err := c.axis(2, len(c.in[0].Shape))
	if err != nil {
		return err
	}
	return c.gatherRows(c.in[0], axis)
}

// resourceGather takes rows of a variable.
func resourceGather(c *call) error {
	params, err := c.variable(0)
	if err == nil && len(params.Shape) == 0 {
		err = c.misfit("rows")
	}
	if err != nil {
		return err
	}
	return c.gatherRows(params, 0)
}

// gatherRows takes the rows of params that the indices of input 1 name:
//
//	params [outer…, rows, inner…]   indices [n…]   output [outer…, n…, inner…]
func (c *call) gatherRows(params *Tensor, axis int) error {
	in, indices := params.Shape, c.in[1]
	rows, width, n := in[axis], Elements(in[axis+1:]), indices.length()
	if err := c.make(0, params.Type, c.dims(in[:axis], indices.Shape, in[axis+1:])...); err != nil {
		return err
	}
	at := c.list(1)
	for k, row := range at {
		if (row < 0 || row >= rows) && c.out[0].length() > 0 {
			return outside(k, row, rows)
		}
	}
	for outer := range Elements(in[:axis]) {
		c.out[0].lane().move(c.out[0], params, pieces{outer * n * width, width, outer * rows * width, width, n, width, at})
	}
	return nil
}

// gatherNd takes the parts of a tensor that lists of indices name:
//
//	params [d…, inner…]   indices [n…, number of d]   output [n…, inner…]
func gatherNd(c *call) error {
	params, indices := c.in[0], c.in[1]
	last := len(indices.Shape) - 1
	if last < 0 || indices.Shape[last] > len(params.Shape) {
		return c.misfit("lists of indices")
	}
	dims := indices.Shape[last]
	inner, lists := params.Shape[dims:], indices.Shape[:last]
	if err := c.make(0, params.Type, c.dims(lists, inner)...); err != nil {
		return err
	}
	n := Elements(lists)
	rows := c.list(1)
	rows = slices.Grow(rows, n)[:max(len(rows), n)]
	c.lists[1] = rows
	for i := range n { // the row of list i stands at i from here on, before the lists that follow
		row := 0
		for d, size := range params.Shape[:dims] {
			at := rows[i*dims+d]
			if at < 0 || at >= size {
				return outside(i, at, size)
			}
			row = row*size + at
		}
		rows[i] = row
	}
	width := Elements(inner)
	c.out[0].lane().move(c.out[0], params, pieces{0, width, 0, width, n, width, rows[:n]})
	return nil
}

// oneHot writes the on value where the index says, and the off value elsewhere:
//
//	indices [outer…, inner…]   output [outer…, depth, inner…]
func oneHot(c *call) error {
	indices, in, depth, axis := c.in[0], c.in[0].Shape, c.in[1].integer(0), c.node.bound.(int)
	if axis == -1 {
		axis = len(in)
	}
	if axis < 0 || axis > len(in) || len(c.in[2].Shape)+len(c.in[3].Shape) > 0 {
		return fmt.Errorf("axis %d: %w", axis, c.misfit("an axis of the output, and scalars"))
	}
	if err := c.make(0, c.in[2].Type, c.dims(in[:axis], []int{depth}, in[axis:])...); err != nil {
		return err
	}
	c.out[0].repeat(c.in[3])
	inner := Elements(in[axis:])
	for i := range indices.length() {
		if at := indices.integer(i); at >= 0 && at < depth {
			c.out[0].take((i/inner*depth+at)*inner+i%inner, c.in[2], 0, 1)
		}
	}
	return nil
}

// where lists the places of the true values.
func where(c *call) error {
	in, n, rank := c.in[0], 0, len(c.in[0].Shape)
	if rank == 0 {
		return errors.New("the input is a scalar")
	}
	for _, v := range in.Bool {
		if v {
			n++
		}
	}
	if err := c.make(0, tfpb.DataType_DT_INT64, n, rank); err != nil {
		return err
	}
	places, row, last := c.out[0].Int64, 0, in.Shape[rank-1]
	for first := 0; first < len(in.Bool); first += last {
		for i, v := range in.Bool[first:][:last] {
			if !v {
				continue
			}
			at := row
			places[rank-1] = int64(i)
			for d := rank - 2; d >= 0; d-- {
				places[d] = int64(at % in.Shape[d])
				at /= in.Shape[d]
			}
			places = places[rank:]
		}
		row++
	}
	return nil
}
