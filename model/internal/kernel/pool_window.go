package kernel

// poolWindow is one window of a pooling: the cells that lie in the image, each with
// len(y) channels.
type poolWindow struct {
	x           []float32 // from the first cell on
	y           []float32
	arg         []int32 // nil, or the number of the largest cell, by channel
	rows, cols  int
	stride      int   // elements from a row of cells to the next
	first, skip int32 // number of the first cell; what the numbers skip after a row
	count       float32
}

// run does all channels of the window.
func (w *poolWindow) run(s Set, kind poolKind) {
	c := len(w.y)
	if done := w.assembly(s, kind); done < c {
		w.portable(kind, done)
	}
}

// portable is what defines the result, from channel lo on.
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

// cell does the cell of that number, from channel lo on.
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

// takeMax takes x where it is larger than y, or NaN, and all of the first cell.
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

// giveMax adds y to x where arg is cell, or writes it there and 0 elsewhere.
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
