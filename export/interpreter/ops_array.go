package interpreter

import (
	"cmp"
	"slices"

	"ringtrain/export/tfpb"
)

// arrayOps returns the operations of this file and of gather.go: those that move values.
func arrayOps() []op {
	return []op{
		{name: "Shape", kinds: "x", run: runShape},
		{name: "Reshape", kinds: "xi", run: reshape},
		{name: "ExpandDims", kinds: "xi", run: expandDims},
		{name: "Squeeze", kinds: "x", bind: func(n *node) any { return n.integers("squeeze_dims") }, run: squeeze},
		{name: "Fill", kinds: "ix", run: fill},
		{name: "ZerosLike", kinds: "x", shape: likeInput(0), run: func(c *call) { c.out[0].zero() }},
		{name: "Tile", kinds: "xi", run: tile},
		{name: "Pack", kinds: "T+", bind: func(n *node) any { return n.integer("axis", 0) }, run: pack},
		{name: "ConcatV2", kinds: "T+i", run: concat},
		{name: "Pad", kinds: "xi", run: pad},
		{name: "StridedSlice", kinds: "xiii", attrs: "ellipsis_mask=0 new_axis_mask=0", bind: bindSlice, run: slice},
		{name: "GatherV2", kinds: "xii", attrs: "batch_dims=0", run: gather},
		{name: "ResourceGather", kinds: "xi", attrs: "batch_dims=0", run: resourceGather, state: true, reads: true},
		{name: "GatherNd", kinds: "xi", run: gatherNd},
		{name: "OneHot", kinds: "inTT", bind: func(n *node) any { return n.integer("axis", -1) }, run: oneHot},
		{name: "Where", kinds: "b", run: where},
	}
}

func runShape(c *call) {
	c.make(0, cmp.Or(c.node.typ("out_type"), tfpb.DataType_DT_INT32), len(c.in[0].Shape))
	for i, d := range c.in[0].Shape {
		c.out[0].put(i, d)
	}
}

func reshape(c *call) {
	shape, n, open := c.list(1), Elements(c.in[0].Shape), slices.Index(c.list(1), -1)
	if open >= 0 { // has what is left; where the shape names a 0, the zeros of both are left out of the count
		shape[open] = 1
		values, zeros := 1, slices.Contains(shape, 0)
		for _, d := range c.in[0].Shape {
			if d > 0 || !zeros {
				values *= d
			}
		}
		for _, d := range shape {
			values /= max(d, 1)
		}
		shape[open] = values
	}
	if have, err := elements(1, shape, maxBytes); err != nil || have != n {
		refuse("%d values do not fit %v", n, slices.Clone(shape))
	}
	c.share(0, c.in[0], shape...)
}

func expandDims(c *call) {
	in := c.in[0].Shape
	axis := c.axis(1, len(in)+1)
	c.share(0, c.in[0], c.dims(in[:axis], []int{1}, in[axis:])...)
}

func squeeze(c *call) {
	in, axes, shape := c.in[0].Shape, c.node.bound.([]int64), c.dims()
	for _, axis := range axes {
		within(int(axis), len(in))
	}
	for d, size := range in {
		named := slices.Contains(axes, int64(d)) || slices.Contains(axes, int64(d-len(in)))
		if named && size != 1 {
			refuse("dimension %d is %d, want 1", d, size)
		}
		if !named && (len(axes) > 0 || size != 1) {
			shape = append(shape, size)
		}
	}
	c.sizes = shape
	c.share(0, c.in[0], shape...)
}

func fill(c *call) {
	c.make(0, c.in[1].Type, c.list(0)...)
	c.out[0].repeat(c.in[1])
}

// repeat sets all values to the one of src.
func (t *Tensor) repeat(src *Tensor) {
	n := Elements(t.Shape)
	t.take(0, src, 0, min(n, 1))
	for done := 1; done < n; done *= 2 {
		t.take(done, t, 0, min(done, n-done))
	}
}

func tile(c *call) {
	in, times := c.in[0].Shape, c.list(1)
	c.want(len(times) == len(in), "a multiple for each dimension")
	shape := c.dims(in)
	for d, k := range times {
		shape[d] *= k
	}
	c.make(0, c.in[0].Type, shape...)
	w := c.walk()
	for d, size := range in {
		inside := Elements(shape[d+1:])
		w.dim(times[d], [4]int{size * inside, 0})
		w.dim(size, [4]int{inside, Elements(in[d+1:])})
	}
	w.move(c.out[0], c.in[0])
}

func pack(c *call) {
	in := c.in[0].Shape
	axis := within(c.node.bound.(int), len(in)+1)
	for _, t := range c.in {
		c.want(slices.Equal(t.Shape, in), "equal shapes")
	}
	c.join(c.in, axis, c.dims(in[:axis], []int{len(c.in)}, in[axis:]))
}

func concat(c *call) {
	last := len(c.in) - 1
	in := c.in[0].Shape
	axis := c.axis(last, len(in))
	shape := c.dims(in)
	shape[axis] = 0
	for _, t := range c.in[:last] {
		c.want(len(t.Shape) == len(in) && slices.Equal(t.Shape[:axis], in[:axis]) && slices.Equal(t.Shape[axis+1:], in[axis+1:]), "shapes that are equal beside the axis")
		shape[axis] += t.Shape[axis]
	}
	c.join(c.in[:last], axis, shape)
}

// join makes output 0 and puts the tensors side by side in each of its rows outside the axis.
func (c *call) join(in []*Tensor, axis int, shape []int) {
	c.make(0, in[0].Type, shape...)
	rows, width, at := Elements(shape[:axis]), Elements(shape[axis:]), 0
	if rows*width == 0 {
		return
	}
	lane := in[0].lane()
	for _, t := range in {
		n := Elements(t.Shape) / rows
		lane.move(c.out[0], t, pieces{at, width, 0, n, rows, n, nil})
		at += n
	}
}

func pad(c *call) {
	in, by := c.in[0].Shape, c.list(1)
	c.want(len(by) == 2*len(in), "two margins for each dimension")
	shape := c.dims(in)
	for d := range shape {
		if by[2*d] < 0 || by[2*d+1] < 0 {
			refuse("a margin of dimension %d is negative", d)
		}
		shape[d] += by[2*d] + by[2*d+1]
	}
	c.make(0, c.in[0].Type, shape...)
	c.out[0].zero()
	w := c.walk()
	for d, size := range in {
		inside := Elements(shape[d+1:])
		w.dim(size, [4]int{inside, Elements(in[d+1:])})
		w.at[0] += by[2*d] * inside
	}
	w.move(c.out[0], c.in[0])
}

// slicing has the masks of StridedSlice. A bit stands for an entry of begin, end and strides.
type slicing struct{ begin, end, shrink int }

func bindSlice(n *node) any {
	return slicing{n.integer("begin_mask", 0), n.integer("end_mask", 0), n.integer("shrink_axis_mask", 0)}
}

// slice takes the range begin:end:stride of each dimension, as Python does, or one index of it.
func slice(c *call) {
	in, begin, end, stride := c.in[0].Shape, c.list(1), c.list(2), c.list(3)
	masks, shape := c.node.bound.(slicing), c.dims()
	c.want(len(begin) <= len(in) && len(end) == len(begin) && len(stride) == len(begin), "an entry for each dimension at most")
	w := c.walk()
	for d, size := range in {
		first, n, by := 0, size, 1
		if d < len(begin) {
			by = stride[d]
			first, n = masks.entry(d, size, begin[d], end[d], by)
		}
		inside := Elements(in[d+1:])
		w.at[1] += min(first, first*n) * inside
		w.dim(n, [4]int{0, by * inside})
		if masks.shrink&(1<<d) == 0 {
			shape = append(shape, n)
		}
	}
	c.sizes = shape
	c.make(0, c.in[0].Type, shape...)
	inside := 1
	for d := w.dims - 1; d >= 0; d-- {
		w.step[d][0] = inside
		inside *= w.size[d]
	}
	w.move(c.out[0], c.in[0])
}

// entry returns the first index of dimension d that is taken, and how many.
func (s slicing) entry(d, size, begin, end, stride int) (first, n int) {
	bit := 1 << d
	stride = min(max(stride, -size-1), size+1) // a longer one takes no other value, and its sums overflow
	low, high, last, back := 0, size, size, -1
	switch {
	case stride == 0:
		refuse("the stride of dimension %d is 0", d)
	case stride < 0:
		low, high, first, last, back = -1, size-1, size-1, -1, 1
	}
	place := func(v int) int {
		if v < 0 {
			v += size
		}
		return min(max(v, low), high)
	}
	if s.shrink&bit != 0 {
		if stride < 0 {
			refuse("dimension %d is taken at one place with the stride %d", d, stride)
		}
		if begin < 0 {
			begin += size
		}
		wantIndex(d, begin, size)
		return begin, 1
	}
	if s.begin&bit == 0 {
		first = place(begin)
	}
	if s.end&bit == 0 {
		last = place(end)
	}
	return first, max(0, (last-first+stride+back)/stride)
}
