package interpreter

// walk visits elements of up to four operands at the same time, row by row. The dimensions are added
// from the outermost on. Neighbours that all operands pass in one stride are one dimension.
//
//	w := c.walk()
//	w.dim(rows, [4]int{cols, 0}) // operand 0 has rows × cols elements, operand 1 has a row for all
//	w.dim(cols, [4]int{1, 1})
//	for w.next() { … at w.at[k], w.at[k]+w.by[k], … w.n elements … }
type walk struct {
	at, by [4]int // where the row begins in each operand, and the step to its next element
	n      int    // elements of the row

	dims  int
	size  [16]int
	index [16]int
	step  [16][4]int
	begun bool
	empty bool
}

// walk returns the walk of the frame, without dimensions. Calls run one after another, so they share it.
func (c *call) walk() *walk {
	w := &c.frame.walk
	w.at, w.dims, w.begun, w.empty = [4]int{}, 0, false, false
	return w
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
	w.size[w.dims], w.step[w.dims], w.index[w.dims] = size, step, 0
	w.dims++
}

// inner returns the steps to the next element of a row.
func (w *walk) inner() [4]int {
	if w.dims == 0 {
		return [4]int{1, 1, 1, 1}
	}
	return w.step[w.dims-1]
}

// next moves to the next row and reports whether there is one.
func (w *walk) next() bool {
	if !w.begun {
		w.begun, w.n, w.by = true, 1, w.inner()
		if w.dims > 0 {
			w.dims--
			w.n = w.size[w.dims]
		}
		return !w.empty
	}
	for d := w.dims - 1; d >= 0; d-- {
		w.index[d]++
		over := w.index[d] == w.size[d]
		if over {
			w.index[d] = 0
		}
		for k, step := range w.step[d] {
			w.at[k] += step
			if over {
				w.at[k] -= step * w.size[d]
			}
		}
		if !over {
			return true
		}
	}
	return false
}

// move copies the elements of src, operand 1, to those of dst, operand 0.
func (w *walk) move(dst, src *Tensor) {
	for w.next() {
		dst.lane().move(dst, src, pieces{w.at[0], w.by[0], w.at[1], w.by[1], w.n, 1, nil})
	}
}
