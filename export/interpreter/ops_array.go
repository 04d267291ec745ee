package interpreter

import (
	"fmt"

	"ringtrain/export/tfpb"
)

// arrayOps returns the operations of this file and of its neighbours gather.go, slice.go and pieces.go:
// those that move values and compute none.
func arrayOps() []op {
	return []op{
		{name: "Shape", kinds: "x", bind: bindOutType, shape: shapeShape, run: runShape},
		{name: "Size", kinds: "x", bind: bindOutType, shape: func(c *call) error { return c.make(0, c.bound.(tfpb.DataType)) }, run: runSize},
		{name: "Reshape", kinds: "xi", run: reshape},
		{name: "ExpandDims", kinds: "xi", run: expandDims},
		{name: "Squeeze", kinds: "x", bind: bindSqueeze, run: squeeze},
		{name: "Fill", kinds: "ix", run: fill},
		{name: "ZerosLike", kinds: "x", shape: likeInput(0), run: func(c *call) error { c.out[0].zero(); return nil }},
		{name: "Tile", kinds: "xi", run: tile},
		{name: "Pack", kinds: "T+", bind: bindAxis(0), shape: shapePack, run: pack},
		{name: "ConcatV2", kinds: "T+i", run: concat},
		{name: "Pad", kinds: "xi", run: pad},
		{name: "SpaceToBatchND", kinds: "xii", run: spaceToBatch},
		{name: "BatchToSpaceND", kinds: "xii", run: batchToSpace},
		{name: "StridedSlice", kinds: "xiii", bind: bindSlice, run: slice},
		{name: "GatherV2", kinds: "xii", bind: bindGather, run: gather},
		{name: "ResourceGather", kinds: "xi", bind: bindGather, run: resourceGather, state: true, reads: true},
		{name: "GatherNd", kinds: "xi", shape: shapeGatherNd, run: gatherNd},
		{name: "OneHot", kinds: "inTT", bind: bindAxis(-1), run: oneHot},
		{name: "Where", kinds: "b", run: where},
	}
}

// take copies n values of src, which has the same type, from one place to another.
func (t *Tensor) take(at int, src *Tensor, from, n int) {
	switch t.Type {
	case tfpb.DataType_DT_FLOAT:
		copy(t.Float32[at:at+n], src.Float32[from:from+n])
	case tfpb.DataType_DT_DOUBLE:
		copy(t.Float64[at:at+n], src.Float64[from:from+n])
	case tfpb.DataType_DT_INT32:
		copy(t.Int32[at:at+n], src.Int32[from:from+n])
	case tfpb.DataType_DT_INT64:
		copy(t.Int64[at:at+n], src.Int64[from:from+n])
	case tfpb.DataType_DT_BOOL:
		copy(t.Bool[at:at+n], src.Bool[from:from+n])
	case tfpb.DataType_DT_STRING:
		copy(t.Bytes[at:at+n], src.Bytes[from:from+n])
	}
}

// zero sets all values to 0, false or the empty string.
func (t *Tensor) zero() {
	clear(t.Float32)
	clear(t.Float64)
	clear(t.Int32)
	clear(t.Int64)
	clear(t.Bool)
	clear(t.Bytes)
}

// integer returns value i of a tensor of integers.
func (t *Tensor) integer(i int) int {
	if t.Type == tfpb.DataType_DT_INT32 {
		return int(t.Int32[i])
	}
	return int(t.Int64[i])
}

// put sets value i of a tensor of integers.
func (t *Tensor) put(i, v int) {
	if t.Type == tfpb.DataType_DT_INT32 {
		t.Int32[i] = int32(v)
	} else {
		t.Int64[i] = int64(v)
	}
}

// scalar returns the value of input i, which has one.
func (c *call) scalar(i int) (int, error) {
	if Elements(c.in[i].Shape) != 1 {
		return 0, fmt.Errorf("input %d has shape %v, want one value", i, c.in[i].Shape)
	}
	return c.in[i].integer(0), nil
}

// list copies the integers of input i to dst and returns their number, at most maxDims.
func (c *call) list(i int, dst *[maxDims]int) (int, error) {
	t := c.in[i]
	n := Elements(t.Shape)
	if len(t.Shape) > 1 || n > maxDims {
		return 0, fmt.Errorf("input %d has shape %v, want a vector of at most %d", i, t.Shape, maxDims)
	}
	for k := range n {
		dst[k] = t.integer(k)
	}
	return n, nil
}

// within returns axis, or rank + axis if axis is negative.
func within(axis, rank int) (int, error) {
	if axis < -rank || axis >= rank {
		return 0, fmt.Errorf("axis %d of a tensor of rank %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis, nil
}

// bindOutType reads the type of a shape.
func bindOutType(n *node) (any, error) {
	switch t := n.typ("out_type"); t {
	case tfpb.DataType_DT_INVALID:
		return tfpb.DataType_DT_INT32, nil
	case tfpb.DataType_DT_INT32, tfpb.DataType_DT_INT64:
		return t, nil
	default:
		return nil, fmt.Errorf("attribute out_type is %v, want one of %v", t, integers)
	}
}

// bindAxis returns a reader of the attribute axis.
func bindAxis(def int) func(n *node) (any, error) {
	return func(n *node) (any, error) { return n.integer("axis", def), nil }
}

func shapeShape(c *call) error {
	return c.make(0, c.bound.(tfpb.DataType), len(c.in[0].Shape))
}

func runShape(c *call) error {
	for i, d := range c.in[0].Shape {
		c.out[0].put(i, d)
	}
	return nil
}

func runSize(c *call) error {
	c.out[0].put(0, Elements(c.in[0].Shape))
	return nil
}

func reshape(c *call) error {
	var shape [maxDims]int
	rank, err := c.list(1, &shape)
	if err != nil {
		return err
	}
	n, known, open := Elements(c.in[0].Shape), 1, -1
	for i, d := range shape[:rank] {
		switch {
		case d == -1 && open < 0:
			open = i
		case d < 0:
			return fmt.Errorf("dimension %d of the shape is %d", i, d)
		case d > n && n > 0:
			return fmt.Errorf("%d values, and dimension %d of the shape is %d", n, i, d)
		default:
			known *= d
		}
	}
	if open >= 0 && known > 0 {
		shape[open] = n / known
		known *= shape[open]
	}
	if known != n || open >= 0 && shape[open] < 0 {
		return fmt.Errorf("%d values do not fit the shape, which has %d", n, known)
	}
	c.share(0, c.in[0], shape[:rank]...)
	return nil
}

func expandDims(c *call) error {
	axis, err := c.scalar(1)
	if err != nil {
		return err
	}
	in := c.in[0].Shape
	axis, err = within(axis, len(in)+1)
	if err != nil {
		return err
	}
	if len(in) >= maxDims {
		return errRank
	}
	var shape [maxDims]int
	copy(shape[:], in[:axis])
	shape[axis] = 1
	copy(shape[axis+1:], in[axis:])
	c.share(0, c.in[0], shape[:len(in)+1]...)
	return nil
}

func bindSqueeze(n *node) (any, error) { return n.integers("squeeze_dims"), nil }

func squeeze(c *call) error {
	in := c.in[0].Shape
	var drop, shape [maxDims]int
	if len(in) > maxDims {
		return errRank
	}
	axes := c.bound.([]int64)
	for _, a := range axes {
		d, err := within(int(a), len(in))
		if err != nil {
			return err
		}
		if in[d] != 1 {
			return fmt.Errorf("dimension %d is %d, want 1", d, in[d])
		}
		drop[d] = 1
	}
	rank := 0
	for d, size := range in {
		if drop[d] == 0 && (len(axes) > 0 || size != 1) {
			shape[rank] = size
			rank++
		}
	}
	c.share(0, c.in[0], shape[:rank]...)
	return nil
}

func fill(c *call) error {
	var shape [maxDims]int
	rank, err := c.list(0, &shape)
	if err != nil {
		return err
	}
	if len(c.in[1].Shape) > 0 && Elements(c.in[1].Shape) != 1 {
		return fmt.Errorf("the value has shape %v, want a scalar", c.in[1].Shape)
	}
	if err := c.make(0, c.in[1].Type, shape[:rank]...); err != nil {
		return err
	}
	c.out[0].repeat(c.in[1], 0)
	return nil
}

// repeat sets all values to value i of src.
func (t *Tensor) repeat(src *Tensor, i int) {
	n := Elements(t.Shape)
	if n == 0 {
		return
	}
	t.take(0, src, i, 1)
	for done := 1; done < n; done *= 2 {
		t.take(done, t, 0, min(done, n-done))
	}
}

func tile(c *call) error {
	in := c.in[0].Shape
	var times, shape [maxDims]int
	n, err := c.list(1, &times)
	if err != nil {
		return err
	}
	if n != len(in) {
		return fmt.Errorf("%d multiples of a tensor of rank %d", n, len(in))
	}
	var w walk
	for d, size := range in {
		if times[d] < 0 || size > 0 && times[d] > maxBytes/size {
			return fmt.Errorf("multiple %d is %d", d, times[d])
		}
		shape[d] = times[d] * size
	}
	if err := c.make(0, c.in[0].Type, shape[:n]...); err != nil {
		return err
	}
	for d, size := range in {
		inside := Elements(shape[d+1 : n])
		w.dim(times[d], [4]int{size * inside, 0})
		w.dim(size, [4]int{inside, Elements(in[d+1:])})
	}
	w.move(c.out[0], c.in[0])
	return nil
}

// move copies the elements of src, operand 1, to those of dst, operand 0.
func (w *walk) move(dst, src *Tensor) {
	for w.next() {
		if w.by[0] == 1 && w.by[1] == 1 {
			dst.take(w.at[0], src, w.at[1], w.n)
			continue
		}
		for k := range w.n {
			dst.take(w.at[0]+k*w.by[0], src, w.at[1]+k*w.by[1], 1)
		}
	}
}
