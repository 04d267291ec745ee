package interpreter

import (
	"slices"

	"ringtrain/export/tfpb"
)

func gather(c *call) { c.gatherRows(c.in[0], c.axis(2, len(c.in[0].Shape))) }

// resourceGather takes rows of a variable.
func resourceGather(c *call) {
	params := c.handle(0).get()
	c.want(len(params.Shape) > 0, "a variable of rows")
	c.gatherRows(params, 0)
}

// gatherRows takes the rows of params that the indices of input 1 name:
//
//	params [outer…, rows, inner…]   indices [n…]   output [outer…, n…, inner…]
func (c *call) gatherRows(params *Tensor, axis int) {
	in, indices := params.Shape, c.in[1]
	rows, width, n := in[axis], Elements(in[axis+1:]), indices.length()
	c.make(0, params.Type, c.dims(in[:axis], indices.Shape, in[axis+1:])...)
	at := c.list(1)
	if c.out[0].length() == 0 {
		return
	}
	for k, row := range at {
		wantIndex(k, row, rows)
	}
	for outer := range Elements(in[:axis]) {
		c.out[0].lane().move(c.out[0], params, pieces{outer * n * width, width, outer * rows * width, width, n, width, at})
	}
}

// gatherNd takes the parts of a tensor that lists of indices name:
//
//	params [d…, inner…]   indices [n…, number of d]   output [n…, inner…]
func gatherNd(c *call) {
	params, indices := c.in[0], c.in[1]
	last := len(indices.Shape) - 1
	c.want(last >= 0 && indices.Shape[last] <= len(params.Shape), "lists of indices")
	dims := indices.Shape[last]
	inner, lists := params.Shape[dims:], indices.Shape[:last]
	c.make(0, params.Type, c.dims(lists, inner)...)
	n := Elements(lists)
	rows := c.list(1)
	rows = slices.Grow(rows, n)[:max(len(rows), n)]
	c.lists[1] = rows
	for i := range n { // the row of list i stands at i from here on, before the lists that follow
		row := 0
		for d, size := range params.Shape[:dims] {
			at := rows[i*dims+d]
			wantIndex(i, at, size)
			row = row*size + at
		}
		rows[i] = row
	}
	width := Elements(inner)
	c.out[0].lane().move(c.out[0], params, pieces{0, width, 0, width, n, width, rows[:n]})
}

// oneHot writes the on value where the index says, and the off value elsewhere:
//
//	indices [outer…, inner…]   output [outer…, depth, inner…]
func oneHot(c *call) {
	indices, in, depth, axis := c.in[0], c.in[0].Shape, c.in[1].integer(0), c.node.bound.(int)
	c.want(axis >= -1 && len(c.in[2].Shape)+len(c.in[3].Shape) == 0, "an axis of the output, and scalars")
	axis = within(axis, len(in)+1)
	c.make(0, c.in[2].Type, c.dims(in[:axis], []int{depth}, in[axis:])...)
	c.out[0].repeat(c.in[3])
	inner := Elements(in[axis:])
	for i := range indices.length() {
		if at := indices.integer(i); at >= 0 && at < depth {
			c.out[0].take((i/inner*depth+at)*inner+i%inner, c.in[2], 0, 1)
		}
	}
}

// where lists the places of the true values.
func where(c *call) {
	in, n, rank := c.in[0], 0, len(c.in[0].Shape)
	c.want(rank > 0, "no scalar")
	for _, v := range in.Bool {
		if v {
			n++
		}
	}
	c.make(0, tfpb.DataType_DT_INT64, n, rank)
	places, index := c.out[0].Int64, c.dims(in.Shape)
	clear(index)
	for _, v := range in.Bool {
		if v {
			for d, at := range index {
				places[d] = int64(at)
			}
			places = places[rank:]
		}
		for d := rank - 1; d >= 0; d-- {
			if index[d]++; index[d] < in.Shape[d] {
				break
			}
			index[d] = 0
		}
	}
}
