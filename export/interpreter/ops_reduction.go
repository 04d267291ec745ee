package interpreter

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"ringtrain/export/tfpb"
)

// reductionOps returns the operations of this file: those that make one value of many.
func reductionOps() []op {
	keep := func(n *node) any { return n.boolean("keep_dims") }
	ops := []op{
		{name: "All", kinds: "bi", bind: keep, run: all},
		{name: "ArgMax", kinds: "Ti", types: float32s, run: argMax},
		{name: "TopKV2", kinds: "Tn", out: "values+indices", types: float32s, run: topK},
		{name: "Cumsum", kinds: "Ti", types: integers, attrs: "exclusive=false reverse=false", shape: likeInput(0), run: cumsum},
		{name: "UnsortedSegmentSum", kinds: "Tii", types: numbers, run: segmentSum},
		{name: "Bucketize", kinds: "T", types: float32s, attrs: "boundaries", bind: bindBucketize, shape: likeInput(tfpb.DataType_DT_INT32), run: bucketize},
	}
	for _, r := range reductions() {
		ops = append(ops, op{name: r.name, kinds: "Ti", types: r.types, bind: keep, run: r.run})
	}
	return ops
}

// reduce makes output 0 and returns a walk over it, operand 0, and the input, operand 1. An element of
// the output stands still while the walk passes the values that it is made of.
func (c *call) reduce() *walk {
	w := c.walk()
	in, axes := c.in[0].Shape, c.list(1)
	shape := c.dims(in)
	for i, a := range axes {
		axes[i] = within(a, len(in))
		if slices.Contains(axes[:i], axes[i]) {
			refuse("axis %d is there twice", axes[i])
		}
		shape[axes[i]] = 1
	}
	for d, size := range in {
		step := [4]int{Elements(shape[d+1:]), Elements(in[d+1:])}
		if slices.Contains(axes, d) {
			step[0] = 0
		}
		w.dim(size, step)
	}
	if !c.node.bound.(bool) {
		shape = shape[:0]
		for d, size := range in {
			if !slices.Contains(axes, d) {
				shape = append(shape, size)
			}
		}
	}
	c.make(0, c.in[0].Type, shape...)
	return w
}

// reduction is a function that takes in a value at a time, from a first one on.
type reduction struct {
	name  string
	types []tfpb.DataType
	first float64 // of floats; of integers it is 0
	f     func(x, y float64) float64
	i     func(x, y int64) int64
	mean  bool // the result is divided by the number of values
}

func reductions() []reduction {
	add := func(x, y float64) float64 { return x + y }
	return []reduction{
		{name: "Sum", types: numbers, f: add, i: func(x, y int64) int64 { return x + y }},
		{name: "Mean", types: floats, f: add, mean: true},
		{name: "Max", types: floats, first: math.Inf(-1), f: func(x, y float64) float64 { return max(x, y) }},
	}
}

func (r *reduction) run(c *call) {
	w := c.reduce()
	x, out := c.in[0], c.out[0]
	fold(w, out.Float32, x.Float32, float32(r.first), r.f)
	fold(w, out.Float64, x.Float64, r.first, r.f)
	fold(w, out.Int32, x.Int32, 0, r.i)
	fold(w, out.Int64, x.Int64, 0, r.i)
	if r.mean {
		n := float64(x.length()) / float64(out.length())
		each(out.Float32, out.Float32, func(x float32) float32 { return float32(float64(x) / n) })
		each(out.Float64, out.Float64, func(x float64) float64 { return x / n })
	}
}

// fold applies f to first, and to all elements of src that belong to an element of dst in turn. It rounds
// the result for neighbours once.
func fold[T, W number](w *walk, dst, src []T, first T, f func(x, y W) W) {
	for i := range dst {
		dst[i] = first
	}
	for len(src) > 0 && w.next() {
		d, s := w.at[0], w.at[1]
		if w.by[0] == 0 {
			sum := W(dst[d])
			for range w.n {
				sum = f(sum, W(src[s]))
				s += w.by[1]
			}
			dst[d] = T(sum)
			continue
		}
		for range w.n {
			dst[d] = T(f(W(dst[d]), W(src[s])))
			d, s = d+w.by[0], s+w.by[1]
		}
	}
}

// all is true where no value is false.
func all(c *call) {
	w := c.reduce()
	x, out := c.in[0].Bool, c.out[0].Bool
	for i := range out {
		out[i] = true
	}
	for w.next() {
		for k := range w.n {
			if !x[w.at[1]+k*w.by[1]] {
				out[w.at[0]+k*w.by[0]] = false
			}
		}
	}
}

// argMax returns the first place of the largest value:
//
//	input [outer…, n, inner…]   output [outer…, inner…]
func argMax(c *call) {
	in := c.in[0].Shape
	axis := c.axis(1, len(in))
	n, inner := in[axis], Elements(in[axis+1:])
	if n == 0 {
		refuse("the axis has no values")
	}
	c.make(0, cmp.Or(c.node.typ("output_type"), tfpb.DataType_DT_INT64), c.dims(in[:axis], in[axis+1:])...)
	for i := range c.out[0].length() {
		x, place, most := c.in[0].Float32[i/inner*n*inner+i%inner:], 0, float32(-math.MaxFloat32)
		for k := range n { // from the least finite number on, as TensorFlow: NaN and negative infinity are never above it
			if v := x[k*inner]; v > most {
				place, most = k, v
			}
		}
		c.out[0].put(i, place)
	}
}

// topK returns the k largest values of each row and their places; the first of equal ones comes first.
func topK(c *call) {
	in, k := c.in[0].Shape, c.in[1].integer(0)
	last := len(in) - 1
	c.want(last >= 0, "rows")
	if k < 0 || k > in[last] {
		refuse("k is %d, want 0 to %d", k, in[last])
	}
	shape := c.dims(in[:last], []int{k})
	c.make(0, c.in[0].Type, shape...)
	c.make(1, tfpb.DataType_DT_INT32, shape...)
	if k == 0 {
		return
	}
	n := in[last]
	top, places := c.out[0].Float32, c.out[1].Int32
	for x := c.in[0].Float32; len(x) > 0; x, top, places = x[n:], top[k:], places[k:] {
		have := 0
		for i, v := range x[:n] {
			at := sort.Search(have, func(j int) bool { return v > top[j] })
			if at < k {
				have = min(have+1, k)
				copy(top[at+1:have], top[at:])
				copy(places[at+1:have], places[at:])
				top[at], places[at] = v, int32(i)
			}
		}
	}
}

// cumsum returns the sums up to each value along an axis.
func cumsum(c *call) {
	in := c.in[0].Shape
	axis := c.axis(1, len(in))
	n, inner, x := in[axis], Elements(in[axis+1:]), c.in[0]
	c.out[0].take(0, x, 0, x.length())
	for i := range x.length() {
		if i/inner%n > 0 {
			c.out[0].put(i, c.out[0].integer(i-inner)+x.integer(i))
		}
	}
}

// segmentSum adds rows of the data to the rows of the output that the segments name; a negative one
// drops the row:
//
//	data [n…, inner…]   segments [n…]   output [number, inner…]
func segmentSum(c *call) {
	data, segments, number := c.in[0], c.in[1], c.in[2].integer(0)
	rank := len(segments.Shape)
	c.want(rank <= len(data.Shape) && slices.Equal(data.Shape[:rank], segments.Shape), "segments of the rows")
	c.make(0, data.Type, c.dims([]int{number}, data.Shape[rank:])...)
	out, width, rows := c.out[0], Elements(data.Shape[rank:]), c.list(1)
	out.zero()
	for i, row := range rows {
		if row >= number {
			refuse("segment %d is %d, want less than %d", i, row, number)
		}
	}
	out.addRows(data, width, rows)
}

// addRows adds rows of src of a width to those of t that are named; a negative one drops the row.
func (t *Tensor) addRows(src *Tensor, width int, rows []int) {
	addRows(t.Float32, src.Float32, width, rows)
	addRows(t.Float64, src.Float64, width, rows)
	addRows(t.Int32, src.Int32, width, rows)
	addRows(t.Int64, src.Int64, width, rows)
}

func addRows[T number](dst, src []T, width int, rows []int) {
	for i, row := range rows {
		if row >= 0 && len(src) > 0 {
			values := src[i*width:][:width]
			sum := dst[row*width:][:len(values)]
			for k, v := range values {
				sum[k] += v
			}
		}
	}
}

func bindBucketize(n *node) any {
	bounds := n.attrs["boundaries"].GetList().GetF()
	if !slices.IsSorted(bounds) {
		refuse("the boundaries do not ascend")
	}
	return bounds
}

// bucketize returns the number of boundaries that are not above each value.
func bucketize(c *call) {
	bounds := c.node.bound.([]float32)
	each(c.out[0].Int32, c.in[0].Float32, func(v float32) int32 {
		return int32(sort.Search(len(bounds), func(k int) bool { return v < bounds[k] }))
	})
}
