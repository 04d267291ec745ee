package interpreter

import (
	"errors"
	"fmt"

	"ringtrain/export/tfpb"
)

// maxDims bounds the rank of a tensor that is broadcast, cut or turned.
const maxDims = 8

// walk visits elements of up to four operands at the same time, row by row. The dimensions are added from
// the outermost on. Neighbours that all operands pass in one stride are one dimension.
//
//	var w walk
//	w.dim(rows, [4]int{cols, 0})  // operand 0 has rows × cols elements, operand 1 a row for all
//	w.dim(cols, [4]int{1, 1})
//	for w.next() { … at w.at[k], w.at[k]+w.by[k], … w.n elements … }
type walk struct {
	at, by [4]int // where the row begins in each operand, and the step to the next element
	n      int    // elements of the row

	dims  int
	size  [2 * maxDims]int
	index [2 * maxDims]int
	step  [2 * maxDims][4]int
	begun bool
	empty bool
}

// dim adds a dimension inside the others, with the step of each operand.
func (w *walk) dim(size int, step [4]int) {
	w.empty = w.empty || size == 0
	if size == 1 {
		return
	}
	if last := w.dims - 1; last >= 0 {
		outer := w.step[last]
		for k := range outer {
			outer[k] -= step[k] * size
		}
		if outer == [4]int{} {
			w.size[last], w.step[last] = w.size[last]*size, step
			return
		}
	}
	w.size[w.dims], w.step[w.dims] = size, step
	w.dims++
}

// next moves to the next row and reports whether there is one.
func (w *walk) next() bool {
	if !w.begun {
		w.begun, w.n, w.by = true, 1, [4]int{1, 1, 1, 1}
		if w.dims > 0 {
			w.dims--
			w.n, w.by = w.size[w.dims], w.step[w.dims]
		}
		return !w.empty
	}
	for d := w.dims - 1; d >= 0; d-- {
		w.index[d]++
		back := 0
		if w.index[d] == w.size[d] {
			back, w.index[d] = w.size[d], 0
		}
		for k, s := range w.step[d] {
			w.at[k] += s * (1 - back)
		}
		if back == 0 {
			return true
		}
	}
	return false
}

// spread walks over out and the inputs, which are broadcast to its shape.
func (w *walk) spread(out *Tensor, in []*Tensor) {
	for d, size := range out.Shape {
		step := [4]int{Elements(out.Shape[d+1:])}
		for k, t := range in {
			if i := d - len(out.Shape) + len(t.Shape); i >= 0 && t.Shape[i] != 1 {
				step[k+1] = Elements(t.Shape[i+1:])
			}
		}
		w.dim(size, step)
	}
}

// errRank reports a tensor with too many dimensions.
var errRank = fmt.Errorf("a tensor has more than %d dimensions", maxDims)

// broadcast makes output 0 a tensor of type t with the common shape of all inputs, as NumPy has it.
func (c *call) broadcast(t tfpb.DataType) error {
	in := c.in
	var shape [maxDims]int
	rank := 0
	for _, t := range in {
		rank = max(rank, len(t.Shape))
	}
	if rank > maxDims {
		return errRank
	}
	for d := range rank {
		shape[d] = 1
	}
	for _, t := range in {
		for i, size := range t.Shape {
			have := &shape[rank-len(t.Shape)+i]
			if *have == 1 {
				*have = size
			}
			if size != 1 && size != *have {
				return errors.New("shapes do not broadcast: " + shapes(in))
			}
		}
	}
	return c.make(0, t, shape[:rank]...)
}

// shapes lists the shapes of tensors for an error.
func shapes(in []*Tensor) string {
	text := ""
	for i, t := range in {
		if i > 0 {
			text += " and "
		}
		text += fmt.Sprint(t.Shape)
	}
	return text
}
