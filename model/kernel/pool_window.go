package kernel

// poolWindow is one window of a pooling: the cells inside the image, each with len(y)
// channels.
type poolWindow struct {
	x           []float32 // from the first cell on
	y           []float32
	arg         []int32 // nil, or the index of the largest cell by channel
	rows, cols  int
	stride      int   // stride of the rows of cells
	first, skip int32 // index of the first cell; gap in the indices after a row
	count       float32
}

// run computes all channels of the window.
func (w *poolWindow) run(s Set, kind poolKind) {
	c := len(w.y)
	if done := w.assembly(s, kind); done < c {
		w.portable(kind, done)
	}
}

// portable defines the result from channel lo on.
func (w *poolWindow) portable(kind poolKind, lo int) {
	c, cell := len(w.y), w.first
	for r := range w.rows {
		for s := range w.cols {
			at := r*w.stride + s*c
			w.cell(kind, w.x[at+lo:at+c], lo, cell)
			cell++
		}
		cell += w.skip
	}
	if kind == poolMean {
		divideRef(w.y[lo:], w.y[lo:], nil, w.count)
	}
}

// cell processes the cell with that index, from channel lo on.
func (w *poolWindow) cell(kind poolKind, x []float32, lo int, cell int32) {
	y := w.y[lo:]
	switch {
	case kind == poolMax:
		w.takeMax(x, lo, cell)
	case kind == poolMean && cell == w.first:
		copy(y, x)
	case kind == poolMean:
		addRef(y, y, x, 0)
	case kind == poolMeanGrad:
		addQuotientRef(x, x, y, w.count)
	default:
		w.giveMax(x, lo, cell, kind == poolMaxGrad)
	}
}

// takeMax replaces y by x if x is larger or NaN, and by all of the first cell.
func (w *poolWindow) takeMax(x []float32, lo int, cell int32) {
	y := w.y[lo:]
	for j, v := range x {
		if v > y[j] || v != v || cell == w.first {
			y[j] = v
			if w.arg != nil {
				w.arg[lo+j] = cell
			}
		}
	}
}

// giveMax adds y to x if arg is cell; without add it writes y, or 0 for other cells.
func (w *poolWindow) giveMax(x []float32, lo int, cell int32, add bool) {
	y, arg := w.y[lo:], w.arg[lo:]
	for j, v := range y {
		switch {
		case arg[j] != cell && !add:
			x[j] = 0
		case arg[j] != cell:
		case add:
			x[j] += v
		default:
			x[j] = v
		}
	}
}
