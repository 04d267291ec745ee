package interpreter

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"ringtrain/export/tfpb"
)

// reductionOps returns the operations of this file and of counts.go: those that make one value of many.
func reductionOps() []op {
	return []op{
		{name: "Sum", kinds: "Ti", types: numbers, bind: bindReduction, run: (*call).sum},
		{name: "Mean", kinds: "Ti", types: floats, bind: bindReduction, run: mean},
		{name: "Max", kinds: "Ti", types: numbers, bind: bindReduction, run: largest},
		{name: "All", kinds: "bi", bind: bindReduction, run: all},
		{name: "ArgMax", kinds: "Ti", types: numbers, bind: bindArgMax, run: argMax},
		{name: "TopKV2", kinds: "Tn", out: "values+indices", types: numbers, run: topK},
		{name: "Cumsum", kinds: "Ti", types: numbers, bind: bindCumsum, shape: likeInput(0), run: cumsum},
		{name: "UnsortedSegmentSum", kinds: "Tii", types: numbers, run: segmentSum},
		{name: "Bucketize", kinds: "T", types: numbers, bind: bindBucketize, shape: likeInput(tfpb.DataType_DT_INT32), run: bucketize},
		{name: "DenseBincount", kinds: "iiT", types: numbers, bind: bindBincount, run: bincount},
	}
}

func bindReduction(n *node) (any, error) { return n.boolean("keep_dims", false), nil }

// reduce makes output 0 and returns a walk over it, operand 0, and the input, operand 1. An element of
// the output stands still while the walk passes what it is made of.
func (c *call) reduce() (w walk, err error) {
	in := c.in[0].Shape
	var axes, shape, kept [maxDims]int
	n, err := c.list(1, &axes)
	if err != nil {
		return w, err
	}
	if len(in) > maxDims {
		return w, errRank
	}
	var gone [maxDims]bool
	for _, a := range axes[:n] {
		d, err := within(a, len(in))
		if err != nil {
			return w, err
		}
		if gone[d] {
			return w, fmt.Errorf("axis %d is there twice", d)
		}
		gone[d] = true
	}
	rank := 0
	for d, size := range in {
		kept[d] = size
		if gone[d] {
			kept[d] = 1
		}
		if !gone[d] || c.bound.(bool) {
			shape[rank] = kept[d]
			rank++
		}
	}
	if err := c.make(0, c.in[0].Type, shape[:rank]...); err != nil {
		return w, err
	}
	for d, size := range in {
		step := [4]int{Elements(kept[d+1 : len(in)]), Elements(in[d+1:])}
		if gone[d] {
			step[0] = 0
		}
		w.dim(size, step)
	}
	return w, nil
}

func (c *call) sum() error {
	w, err := c.reduce()
	if err != nil {
		return err
	}
	x, out := c.in[0], c.out[0]
	out.zero()
	switch out.Type {
	case tfpb.DataType_DT_FLOAT:
		fold[float32, float64](&w, out.Float32, x.Float32, add)
	case tfpb.DataType_DT_DOUBLE:
		fold[float64, float64](&w, out.Float64, x.Float64, add)
	case tfpb.DataType_DT_INT32:
		fold[int32, int32](&w, out.Int32, x.Int32, add)
	default:
		fold[int64, int64](&w, out.Int64, x.Int64, add)
	}
	return nil
}

func add[T number](x, y T) T    { return x + y }
func larger[T number](x, y T) T { return max(x, y) }

// fold applies f to each element of dst and those of src that belong to it. A sum of neighbours is
// rounded once.
func fold[T, W number](w *walk, dst, src []T, f func(x, y W) W) {
	for w.next() {
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

func mean(c *call) error {
	if err := c.sum(); err != nil {
		return err
	}
	out := c.out[0]
	n := float64(Elements(c.in[0].Shape)) / float64(Elements(out.Shape))
	apply(out.Float32, out.Float32, func(x float64) float64 { return x / n })
	apply(out.Float64, out.Float64, func(x float64) float64 { return x / n })
	return nil
}

func largest(c *call) error {
	w, err := c.reduce()
	if err != nil {
		return err
	}
	x, out := c.in[0], c.out[0]
	switch out.Type {
	case tfpb.DataType_DT_FLOAT:
		foldLargest(&w, out.Float32, x.Float32, float32(math.Inf(-1)))
	case tfpb.DataType_DT_DOUBLE:
		foldLargest(&w, out.Float64, x.Float64, math.Inf(-1))
	case tfpb.DataType_DT_INT32:
		foldLargest(&w, out.Int32, x.Int32, math.MinInt32)
	default:
		foldLargest(&w, out.Int64, x.Int64, math.MinInt64)
	}
	return nil
}

func foldLargest[T number](w *walk, dst, src []T, least T) {
	for i := range dst {
		dst[i] = least
	}
	fold[T, T](w, dst, src, larger)
}

func all(c *call) error {
	w, err := c.reduce()
	if err != nil {
		return err
	}
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
	return nil
}

func bindArgMax(n *node) (any, error) {
	if t := n.typ("output_type"); t == tfpb.DataType_DT_INT32 {
		return t, nil
	}
	return tfpb.DataType_DT_INT64, nil
}

// argMax returns the first place of the largest value:
//
//	input [outer…, n, inner…]   output [outer…, inner…]
func argMax(c *call) error {
	in := c.in[0].Shape
	axis, err := c.scalar(1)
	if err != nil {
		return err
	}
	axis, err = within(axis, len(in))
	switch {
	case err != nil:
		return err
	case len(in) > maxDims:
		return errRank
	case in[axis] == 0:
		return fmt.Errorf("axis %d of shape %v has no values", axis, slices.Clone(in))
	}
	var shape [maxDims]int
	copy(shape[:], in[:axis])
	copy(shape[axis:], in[axis+1:])
	if err := c.make(0, c.bound.(tfpb.DataType), shape[:len(in)-1]...); err != nil {
		return err
	}
	x, n, inner := c.in[0], in[axis], Elements(in[axis+1:])
	for i := range Elements(c.out[0].Shape) {
		at := i/inner*n*inner + i%inner
		place := 0
		switch x.Type {
		case tfpb.DataType_DT_FLOAT:
			place = argMaxOf(x.Float32[at:], n, inner)
		case tfpb.DataType_DT_DOUBLE:
			place = argMaxOf(x.Float64[at:], n, inner)
		case tfpb.DataType_DT_INT32:
			place = argMaxOf(x.Int32[at:], n, inner)
		default:
			place = argMaxOf(x.Int64[at:], n, inner)
		}
		c.out[0].put(i, place)
	}
	return nil
}

func argMaxOf[T number](x []T, n, step int) int {
	place := 0
	for k := range n {
		if x[k*step] > x[place*step] {
			place = k
		}
	}
	return place
}

// topK returns the k largest values of each row and their places; the first of equal ones comes first.
func topK(c *call) error {
	in := c.in[0].Shape
	k, err := c.scalar(1)
	if err != nil {
		return err
	}
	last := len(in) - 1
	if last < 0 || last >= maxDims || k < 0 || k > in[last] {
		return fmt.Errorf("k is %d for rows of shape %v", k, slices.Clone(in))
	}
	var shape [maxDims]int
	copy(shape[:], in[:last])
	shape[last] = k
	if err := errors.Join(c.make(0, c.in[0].Type, shape[:last+1]...), c.make(1, tfpb.DataType_DT_INT32, shape[:last+1]...)); err != nil || k == 0 {
		return err
	}
	x, top, places := c.in[0], c.out[0], c.out[1].Int32
	switch n := in[last]; x.Type {
	case tfpb.DataType_DT_FLOAT:
		topOf(top.Float32, places, x.Float32, k, n)
	case tfpb.DataType_DT_DOUBLE:
		topOf(top.Float64, places, x.Float64, k, n)
	case tfpb.DataType_DT_INT32:
		topOf(top.Int32, places, x.Int32, k, n)
	default:
		topOf(top.Int64, places, x.Int64, k, n)
	}
	return nil
}

// topOf inserts each value of a row of n into the row of its k largest.
func topOf[T number](dst []T, places []int32, x []T, k, n int) {
	for ; len(x) > 0; dst, places, x = dst[k:], places[k:], x[n:] {
		have := 0
		for i, v := range x[:n] {
			at := sort.Search(have, func(j int) bool { return cmp.Compare(v, dst[j]) > 0 })
			if at == k {
				continue
			}
			have = min(have+1, k)
			copy(dst[at+1:have], dst[at:])
			copy(places[at+1:have], places[at:])
			dst[at], places[at] = v, int32(i)
		}
	}
}
