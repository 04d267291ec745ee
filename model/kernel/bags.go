package kernel

// Bags are lists of (row, weight) pairs. Bag b has the pairs [Start[b·Step],
// Start[(b+1)·Step]); pair t is row Slot[t] with the factor Weights[t]. A larger Step
// merges that many consecutive bags into one.
type Bags struct {
	Start   []int32
	Step    int
	Slot    []uint32
	Weights []float32

	// Scale is a factor of each bag's sum; nil means 1.
	Scale []float32
}

// Len returns the number of bags.
func (b *Bags) Len() int { return max(len(b.Start)-1, 0) / max(b.Step, 1) }

// bag returns the pairs [first, last) of bag i.
func (b *Bags) bag(i int) (first, last int) {
	return int(b.Start[i*b.Step]), int(b.Start[(i+1)*b.Step])
}

// scale returns the factor of bag i.
func (b *Bags) scale(i int) float32 {
	if b.Scale == nil {
		return 1
	}
	return b.Scale[i]
}

// Table is a matrix with rows that bags name. Row r begins at Data[r·Stride] and has
// Width elements. Rows of several tables may be interleaved.
type Table struct {
	Data          []float32
	Width, Stride int
}

// row returns row r.
func (t *Table) row(r uint32) []float32 { return t.Data[int(r)*t.Stride:][:t.Width] }

// bagKind is an operation on bags.
type bagKind int

const (
	bagPool         bagKind = iota // out = scale·Σ w·row
	bagPoolGrad                    // grad row += (w·scale)·out
	bagInteract                    // out = Σ w·row, second = out² − Σ (w·row)²
	bagInteractGrad                // grad row += (w·scale)·(out − w·row)
)

// bagSpan is a task on bags. Gradients of rows run on one thread, because bags share
// rows.
type bagSpan struct {
	set         Set
	kind        bagKind
	bags        Bags
	rows, grad  Table
	out, second []float32 // [bags, rows.Width]
	partWidth   int       // consecutive columns with one scale; 0: all columns have one scale
}

// PoolRows writes scale·Σ w·row over the pairs of each bag to out [bags, width].
func (e *Engine) PoolRows(out []float32, rows Table, b *Bags) {
	n := b.Len()
	if len(out) != n*rows.Width {
		panic("kernel: PoolRows: length does not match shape")
	}
	e.runBags(bagSpan{kind: bagPool, bags: *b, rows: rows, out: out}, n)
}

// PoolRowsGrad adds (w·scale)·d to the row of grad of each pair. d [bags, width] is the
// gradient of the output of PoolRows.
func (e *Engine) PoolRowsGrad(grad Table, d []float32, b *Bags) {
	n := b.Len()
	if len(d) != n*grad.Width {
		panic("kernel: PoolRowsGrad: length does not match shape")
	}
	t := bagSpan{set: e.set, kind: bagPoolGrad, bags: *b, rows: grad, grad: grad, out: d}
	t.Span(0, n, 0)
}

// Interact writes the second order of a factorization machine to y [bags, units]:
//
//	y = ½·Σ_j ((Σ w·v_j)² − Σ (w·v_j)²)
//
// over the pairs of each bag, j over the columns of a unit, width/units consecutive
// columns. It writes the sums Σ w·v to sum [bags, width], for the gradient. It ignores
// the bags' scale. See Rendle, "Factorization machines", 2010, lemma 3.1.
func (e *Engine) Interact(y, sum []float32, rows Table, units int, b *Bags) {
	n, w := b.Len(), rows.Width
	if units < 1 || w%units != 0 || len(y) != n*units || len(sum) != n*w {
		panic("kernel: Interact: length does not match shape")
	}
	second := e.partial(n * w)
	e.runBags(bagSpan{kind: bagInteract, bags: *b, rows: rows, out: sum, second: second}, n)
	part := w / units
	for i := range y {
		s := float32(0)
		for _, v := range second[i*part : (i+1)*part] {
			s += v
		}
		y[i] = 0.5 * s
	}
}

// InteractGrad adds (w·dy)·(Σ w·v − w·v) to the row of grad of each pair. dy [bags,
// units] is the gradient of the output of Interact; sum and rows are those of Interact.
func (e *Engine) InteractGrad(grad Table, dy, sum []float32, rows Table, units int, b *Bags) {
	n, w := b.Len(), rows.Width
	if units < 1 || w%units != 0 || grad.Width != w || len(dy) != n*units || len(sum) != n*w {
		panic("kernel: InteractGrad: length does not match shape")
	}
	t := bagSpan{set: e.set, kind: bagInteractGrad, bags: *b, rows: rows, grad: grad, out: sum, partWidth: w / units}
	t.bags.Scale = dy
	t.Span(0, n, 0)
}

// runBags distributes n bags over the threads.
func (e *Engine) runBags(t bagSpan, n int) {
	t.set = e.set
	e.bagSpan = t
	pairs := 1
	if n > 0 {
		pairs += int(t.bags.Start[n*t.bags.Step]-t.bags.Start[0]) / n
	}
	e.Run(n, 1+elementGrain/(pairs*max(1, t.rows.Width)), &e.bagSpan)
	e.bagSpan = bagSpan{}
}

// Span computes bags lo to hi, whole vectors of columns first.
func (bs *bagSpan) Span(lo, hi, _ int) {
	if lo >= hi {
		return
	}
	part := bs.partWidth
	if part == 0 {
		part = bs.rows.Width
	}
	for at := 0; at < bs.rows.Width; at += part {
		if done := at + bs.assembly(lo, hi, at, part); done < at+part {
			bs.portable(lo, hi, done, at+part)
		}
	}
}

// portable defines the result for columns from to to.
func (bs *bagSpan) portable(lo, hi, from, to int) {
	switch w := bs.rows.Width; {
	case w == 1 && bs.kind == bagPool:
		bs.sumOne(lo, hi)
	case w == 1 && bs.kind == bagPoolGrad:
		bs.spreadOne(lo, hi)
	default:
		for i := lo; i < hi; i++ {
			bs.bag(i, from, to)
		}
	}
}

// bag computes columns from to to of bag i.
func (bs *bagSpan) bag(i, from, to int) {
	w := bs.rows.Width
	out := bs.out[i*w+from : i*w+to]
	first, last := bs.bags.bag(i)
	switch bs.kind {
	case bagPool:
		clear(out)
		for p := first; p < last; p++ {
			x := bs.bags.Weights[p]
			for j, v := range bs.rows.row(bs.bags.Slot[p])[from:to] {
				out[j] += float32(x * v)
			}
		}
		if bs.bags.Scale != nil {
			for j := range out {
				out[j] *= bs.bags.Scale[i]
			}
		}
	case bagPoolGrad:
		scale := bs.bags.scale(i)
		for p := first; p < last; p++ {
			c := bs.bags.Weights[p] * scale
			g := bs.grad.row(bs.bags.Slot[p])[from:to]
			for j, d := range out {
				g[j] += float32(c * d)
			}
		}
	case bagInteract:
		bs.interact(bs.second[i*w+from:i*w+to], out, first, last, from)
	case bagInteractGrad:
		units := w / bs.partWidth
		dy := bs.bags.Scale[i*units+from/bs.partWidth]
		for p := first; p < last; p++ {
			x := bs.bags.Weights[p]
			c := x * dy
			v := bs.rows.row(bs.bags.Slot[p])[from:to]
			g := bs.grad.row(bs.bags.Slot[p])[from:to]
			for j, s := range out {
				g[j] += float32(c * (s - float32(x*v[j])))
			}
		}
	}
}

// interact writes Σ w·v to sum, and its square minus Σ (w·v)² to second.
func (bs *bagSpan) interact(second, sum []float32, first, last, from int) {
	clear(sum)
	clear(second)
	for p := first; p < last; p++ {
		x := bs.bags.Weights[p]
		for j, v := range bs.rows.row(bs.bags.Slot[p])[from:][:len(sum)] {
			xv := float32(x * v)
			sum[j] += xv
			second[j] += float32(xv * xv)
		}
	}
	for j, s := range sum {
		second[j] = float32(s*s) - second[j]
	}
}

// sumOne is bagPool for rows of one element.
func (bs *bagSpan) sumOne(lo, hi int) {
	data, stride := bs.rows.Data, bs.rows.Stride
	for i := lo; i < hi; i++ {
		first, last := bs.bags.bag(i)
		weights, sum := bs.bags.Weights[first:last], float32(0)
		for p, slot := range bs.bags.Slot[first:last] {
			sum += float32(weights[p] * data[int(slot)*stride])
		}
		if bs.bags.Scale != nil {
			sum *= bs.bags.Scale[i]
		}
		bs.out[i] = sum
	}
}

// spreadOne is bagPoolGrad for rows of one element.
func (bs *bagSpan) spreadOne(lo, hi int) {
	data, stride := bs.grad.Data, bs.grad.Stride
	for i := lo; i < hi; i++ {
		first, last := bs.bags.bag(i)
		weights, d, scale := bs.bags.Weights[first:last], bs.out[i], bs.bags.scale(i)
		for p, slot := range bs.bags.Slot[first:last] {
			data[int(slot)*stride] += float32(weights[p] * scale * d)
		}
	}
}
