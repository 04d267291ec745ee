package interpreter

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// summing has the attributes of Cumsum.
type summing struct{ exclusive, reverse bool }

func bindCumsum(n *node) (any, error) {
	return summing{n.boolean("exclusive", false), n.boolean("reverse", false)}, nil
}

// cumsum returns the sums up to each value along an axis.
func cumsum(c *call) error {
	in := c.in[0].Shape
	axis, err := c.scalar(1)
	if err != nil {
		return err
	}
	axis, err = within(axis, len(in))
	if err != nil {
		return err
	}
	n, inner, r := in[axis], Elements(in[axis+1:]), c.bound.(summing)
	x, out := c.in[0], c.out[0]
	cumulate(out.Float32, x.Float32, n, inner, r)
	cumulate(out.Float64, x.Float64, n, inner, r)
	cumulate(out.Int32, x.Int32, n, inner, r)
	cumulate(out.Int64, x.Int64, n, inner, r)
	return nil
}

func cumulate[T number](dst, src []T, n, inner int, r summing) {
	if len(src) == 0 {
		return
	}
	for i := range len(src) / n {
		first, step := i/inner*n*inner+i%inner, inner
		if r.reverse {
			first, step = first+(n-1)*inner, -inner
		}
		var sum T
		for k := range n {
			at := first + k*step
			v := src[at]
			if r.exclusive {
				dst[at] = sum
			}
			sum += v
			if !r.exclusive {
				dst[at] = sum
			}
		}
	}
}

// segmentSum adds rows of the data to the rows of the output that the segments name; a negative one
// drops the row:
//
//	data [n…, inner…]   segments [n…]   output [number, inner…]
func segmentSum(c *call) error {
	data, segments := c.in[0], c.in[1]
	number, err := c.scalar(2)
	if err != nil {
		return err
	}
	if len(data.Shape) > maxDims || len(segments.Shape) > len(data.Shape) || !slices.Equal(data.Shape[:len(segments.Shape)], segments.Shape) {
		return errors.New("the segments do not fit the data: " + shapes(c.in[:2]))
	}
	var shape [maxDims]int
	shape[0] = number
	rank := 1 + copy(shape[1:], data.Shape[len(segments.Shape):])
	if err := c.make(0, data.Type, shape[:rank]...); err != nil {
		return err
	}
	out := c.out[0]
	out.zero()
	width := Elements(shape[1:rank])
	for i := range Elements(segments.Shape) {
		s := segments.integer(i)
		if s >= number {
			return fmt.Errorf("segment %d is %d, want less than %d", i, s, number)
		}
		if s < 0 {
			continue
		}
		addRow(out.Float32, data.Float32, s, i, width)
		addRow(out.Float64, data.Float64, s, i, width)
		addRow(out.Int32, data.Int32, s, i, width)
		addRow(out.Int64, data.Int64, s, i, width)
	}
	return nil
}

// addRow adds row i of src to row s of dst.
func addRow[T number](dst, src []T, s, i, width int) {
	if src == nil {
		return
	}
	row := dst[s*width:][:width]
	for k, v := range src[i*width:][:width] {
		row[k] += v
	}
}

func bindBucketize(n *node) (any, error) {
	bounds := n.attrs["boundaries"].GetList().GetF()
	if !slices.IsSorted(bounds) {
		return nil, errors.New("the boundaries do not ascend")
	}
	return bounds, nil
}

// bucketize returns the number of boundaries that are not above each value.
func bucketize(c *call) error {
	x, dst, bounds := c.in[0], c.out[0].Int32, c.bound.([]float32)
	buckets(dst, x.Float32, bounds)
	buckets(dst, x.Float64, bounds)
	buckets(dst, x.Int32, bounds)
	buckets(dst, x.Int64, bounds)
	return nil
}

func buckets[T number](dst []int32, x []T, bounds []float32) {
	for i, v := range x {
		dst[i] = int32(sort.Search(len(bounds), func(k int) bool { return float64(v) < float64(bounds[k]) }))
	}
}

func bindBincount(n *node) (any, error) { return n.boolean("binary_output", false), nil }

// bincount adds the weights, or 1, of each value below size, by row:
//
//	input [n] or [rows, n]   weights [0] or like the input   output [size] or [rows, size]
func bincount(c *call) error {
	in, weights := c.in[0], c.in[2]
	size, err := c.scalar(1)
	if err != nil {
		return err
	}
	rank, weighted := len(in.Shape), Elements(weights.Shape) > 0
	switch {
	case rank < 1 || rank > 2:
		return fmt.Errorf("the input has shape %v, want one or two dimensions", slices.Clone(in.Shape))
	case weighted && !slices.Equal(weights.Shape, in.Shape):
		return errors.New("the weights do not fit the input: " + shapes(c.in))
	case size < 0:
		return fmt.Errorf("size is %d, want 0 or more", size)
	}
	shape := [2]int{1, size}
	copy(shape[:], in.Shape[:rank-1])
	if err := c.make(0, weights.Type, shape[2-rank:]...); err != nil {
		return err
	}
	out := c.out[0]
	out.zero()
	for i := range Elements(in.Shape) {
		bin := in.integer(i)
		if bin < 0 {
			return fmt.Errorf("value %d is %d, want 0 or more", i, bin)
		}
		if bin >= size {
			continue
		}
		at := i/in.Shape[rank-1]*size + bin
		addBin(out.Float32, weights.Float32, at, i, c.bound.(bool))
		addBin(out.Float64, weights.Float64, at, i, c.bound.(bool))
		addBin(out.Int32, weights.Int32, at, i, c.bound.(bool))
		addBin(out.Int64, weights.Int64, at, i, c.bound.(bool))
	}
	return nil
}

// addBin adds value i to a bin; a binary one is 1 as soon as it has a value.
func addBin[T number](bins, weights []T, bin, i int, binary bool) {
	switch {
	case len(bins) == 0:
	case binary:
		bins[bin] = 1
	case len(weights) == 0:
		bins[bin]++
	default:
		bins[bin] += weights[i]
	}
}
