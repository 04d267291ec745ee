package kernel

import (
	"math"
	"unsafe"
)

// RowUpdate has the operands of a rule for a gradient with rows of a table: rows IDs of
// W and of the slots, which are [rows, Width].
//
//	row k of the gradient   G[k·Stride : k·Stride+Width], of row IDs[k]
type RowUpdate struct {
	IDs    []uint32 // ascending and distinct
	G      []float32
	Stride int
	Width  int

	W []float32
	S [3][]float32
	C [6]float32 // constants of the rule
	Adjust

	// Whole makes unlisted rows from First to the last of IDs take the step for a
	// gradient of 0: AdamRows and AdamDecay. Decay and Rate are λ and η of AdamW, 0 for
	// Adam.
	Whole       bool
	First       int
	Decay, Rate float32

	// Mix makes UpdateRows return the hash of the listed rows after the step.
	Mix bool
}

// Adjust changes a gradient before the rule, in this order:
//
//	g ← g + L2·w + L1·sign(w)
//	g ← max(−Bound, min(Bound, g))   Bound > 0
//	g ← g·Factor                     Factor ≠ 0
type Adjust struct{ L1, L2, Bound, Factor float32 }

// rowBlock is a thread's scratch memory: contiguous rows that fit the L1 cache.
type rowBlock struct {
	memory  []float32
	ids     []uint32 // of the rows, and in copied also of those to fetch ahead
	copied  []uint32 // ids that assembly reads, which checks none: their memory may be shared
	u       Update
	mix     uint64
	touched uint32
}

// blockElements is the number of elements of a block, for each of value, gradient and
// slots.
const blockElements = 1024

// rowUpdates is the task of UpdateRows.
type rowUpdates struct {
	engine *Engine
	rule   Rule
	u      RowUpdate
}

// UpdateRows makes one step of the rule on the rows of u in one pass: it gathers blocks
// of rows, updates them as [Engine.Update] does, and scatters them. If u.Mix is set it
// returns a hash of the rows: a sum that depends on ids and values only, not on threads
// or on the division of rows into calls.
func (e *Engine) UpdateRows(r Rule, u *RowUpdate) uint64 {
	n := len(u.IDs)
	if n == 0 {
		return 0
	}
	w := u.Width
	fits := r >= 0 && r < rules && len(u.G) >= (n-1)*u.Stride+w && len(u.W) >= (int(u.IDs[n-1])+1)*w
	for i := range ruleKinds[r].slots {
		fits = fits && len(u.S[i]) == len(u.W)
	}
	if !fits || u.Whole && r != AdamRows {
		panic("kernel: UpdateRows: length does not match shape")
	}
	for i := range e.threads {
		e.threads[i].rows.mix = 0
	}
	t := &e.rowUpdates
	t.engine, t.rule, t.u = e, r, *u
	e.Run(n, 1+updateGrain/w, t)
	t.u = RowUpdate{}
	var mix uint64
	for i := range e.threads {
		mix += e.threads[i].rows.mix
	}
	return mix
}

// Span updates rows lo to hi of the list.
func (r *rowUpdates) Span(lo, hi, thread int) {
	b, u := &r.engine.threads[thread].rows, &r.u
	if len(u.IDs) == 0 {
		r.engine.decayRows(u, u.First+lo, u.First+hi)
		return
	}
	rows := max(1, blockElements/u.Width)
	slots := ruleKinds[r.rule].slots
	if need := (2 + slots) * rows * u.Width; len(b.memory) < need {
		b.memory = make([]float32, need)
	}
	b.reserve(rows)
	for ; lo < hi; lo += rows {
		to := min(lo+rows, hi)
		r.load(b, lo, to)
		r.gather(b, lo, to, slots)
		if u.Whole {
			r.decayUnlisted(lo, to)
		}
		u.Adjust.apply(b.u.G, b.u.W) // before the decay of the weights
		weightDecay(b.u.W, u.Decay, u.Rate)
		if done := r.rule.assembly(r.engine.set, &b.u); done < len(b.u.W) {
			ruleKinds[r.rule].body(b.u.Cut(done, len(b.u.W)))
		}
		r.scatter(b, slots)
		if u.Mix {
			b.mix += r.engine.set.mixRows(b.ids, b.u.W, u.Width)
		}
	}
}

// reserve allocates copied for blocks of so many rows, once: later blocks may be longer than the first.
func (b *rowBlock) reserve(rows int) {
	if cap(b.copied) < rows+rowsAhead {
		b.copied = make([]uint32, 0, rows+rowsAhead)
	}
}

// load makes rows lo to hi the rows of b. It copies and checks the ids that assembly reads.
func (r *rowUpdates) load(b *rowBlock, lo, hi int) {
	b.ids, b.copied = r.u.IDs[lo:hi], b.copied[:0]
	if r.u.Width%8 != 0 {
		return
	}
	b.copied = append(b.copied, r.u.IDs[lo:min(hi+rowsAhead, len(r.u.IDs))]...)
	last := uint32(0)
	for _, id := range b.copied[:hi-lo] {
		last = max(last, id)
	}
	if (int(last)+1)*r.u.Width > len(r.u.W) {
		panic("kernel: UpdateRows: id is out of range")
	}
	b.ids = b.copied[:hi-lo]
}

// gather copies rows lo to hi, which load has set, to b.u.
func (r *rowUpdates) gather(b *rowBlock, lo, hi, slots int) {
	u, n := &r.u, (hi-lo)*r.u.Width
	memory := b.memory
	next := func() []float32 {
		part := memory[:n:n]
		memory = memory[n:]
		return part
	}
	b.u = Update{W: next(), G: next(), C: u.C}
	r.gatherFrom(b, b.u.W, u.W)
	copyStrided(b.u.G, u.G[lo*u.Stride:], u.Stride, u.Width)
	for i := range slots {
		b.u.S[i] = next()
		r.gatherFrom(b, b.u.S[i], u.S[i])
	}
}

// gatherFrom copies the rows of b to dst.
func (r *rowUpdates) gatherFrom(b *rowBlock, dst, table []float32) {
	width, ids := r.u.Width, b.ids
	if r.engine.set.gatherRows(dst, Table{table, width, width}, b.copied, len(ids)) {
		return
	}
	if width == 1 {
		dst = dst[:len(ids)]
		for i, id := range ids {
			dst[i] = table[id]
		}
		return
	}
	b.touched ^= touch(table, ids, width)
	for i, id := range ids {
		copyRow(dst[i*width:(i+1)*width], table[int(id)*width:(int(id)+1)*width])
	}
}

// eight is the memory of eight elements. The compiler moves it through registers, and calls a
// function to move an array.
type eight struct{ a, b, c, d uint64 }

// copyRow is copy for short rows, which a call would delay. dst and src have the same length.
func copyRow(dst, src []float32) {
	for len(dst) >= 8 && len(src) >= 8 {
		*(*eight)(unsafe.Pointer(&dst[0])) = *(*eight)(unsafe.Pointer(&src[0]))
		dst, src = dst[8:], src[8:]
	}
	for i := range min(len(dst), len(src)) {
		dst[i] = src[i]
	}
}

// decayUnlisted makes the step for a gradient of 0 on all rows of the range lo to hi that
// no earlier block has covered. The block has copies of the listed rows, which scatter
// overwrites later.
func (r *rowUpdates) decayUnlisted(lo, hi int) {
	u := &r.u
	first := u.First
	if lo > 0 {
		first = int(u.IDs[lo-1]) + 1
	}
	r.engine.decayRows(u, first, int(u.IDs[hi-1])+1)
}

// DecayRows makes the step for a gradient of 0 on rows first to last of u: those after
// the last listed one. It needs no ids.
func (e *Engine) DecayRows(u *RowUpdate, first, last int) {
	t := &e.rowUpdates
	t.engine, t.u = e, *u
	t.u.IDs, t.u.First = nil, first
	e.Run(last-first, 1+updateGrain/u.Width, t)
	t.u = RowUpdate{}
}

// decayRows is DecayRows on the caller's thread.
func (e *Engine) decayRows(u *RowUpdate, first, last int) {
	lo, hi := first*u.Width, last*u.Width
	part := Update{W: u.W[lo:hi], C: u.C}
	part.S[0], part.S[1] = u.S[0][lo:hi], u.S[1][lo:hi]
	weightDecay(part.W, u.Decay, u.Rate)
	if done := AdamDecay.assembly(e.set, &part); done < len(part.W) {
		adamDecayRef(part.Cut(done, len(part.W)))
	}
}

// weightDecay subtracts rate·decay times the weight from every weight.
func weightDecay(w []float32, decay, rate float32) {
	if decay == 0 {
		return
	}
	for i, x := range w {
		w[i] = x - float32(float32(x*decay)*rate)
	}
}

// scatter copies the rows of b back.
func (r *rowUpdates) scatter(b *rowBlock, slots int) {
	scatterTo(r.u.W, b.u.W, b.ids, r.u.Width)
	for i := range slots {
		scatterTo(r.u.S[i], b.u.S[i], b.ids, r.u.Width)
	}
}

// lineElements is the number of elements of a cache line.
const lineElements = 16

// touch loads one element of each cache line of rows. These loads are independent, so
// the processor overlaps many of them, whereas copies of whole rows overlap few; see
// BenchmarkUpdateRows. The result only keeps the compiler from removing the loads.
func touch(table []float32, ids []uint32, width int) (read uint32) {
	for at := 0; at < width; at += lineElements {
		for _, id := range ids {
			read ^= math.Float32bits(table[int(id)*width+at])
		}
	}
	return read
}

// scatterTo copies rows of src to table.
func scatterTo(table, src []float32, ids []uint32, width int) {
	if width == 1 {
		src = src[:len(ids)]
		for i, id := range ids {
			table[id] = src[i]
		}
		return
	}
	for i, id := range ids {
		copyRow(table[int(id)*width:(int(id)+1)*width], src[i*width:(i+1)*width])
	}
}

// copyStrided copies rows with a stride.
func copyStrided(dst, src []float32, stride, width int) {
	if stride == width {
		copy(dst, src)
		return
	}
	for at := 0; at < len(dst); at += width {
		copyRow(dst[at:at+width], src[:width])
		src = src[min(stride, len(src)):]
	}
}

// apply adjusts the gradient g of weights w.
func (a Adjust) apply(g, w []float32) {
	if a.L1 != 0 || a.L2 != 0 {
		Penalize(g, w, a.L1, a.L2)
	}
	if a.Bound > 0 {
		for i, v := range g {
			g[i] = max(-a.Bound, min(a.Bound, v))
		}
	}
	if a.Factor != 0 {
		for i := range g {
			g[i] *= a.Factor
		}
	}
}

// Penalize adds l2·w + l1·sign(w) to g, each product rounded.
func Penalize(g, w []float32, l1, l2 float32) {
	w = w[:len(g)]
	for i, x := range w {
		d := float32(l2 * x)
		switch {
		case l1 == 0:
		case x > 0:
			d += l1
		case x < 0:
			d -= l1
		}
		g[i] += d
	}
}

// SquaresOfRows returns the sum of the squares of the adjusted gradient of u, in float64
// and in the order of rows.
func (e *Engine) SquaresOfRows(u *RowUpdate) float64 {
	t := &e.rowUpdates
	t.engine, t.u = e, *u
	b := &e.threads[0].rows
	rows := max(1, blockElements/u.Width)
	if need := 2 * rows * u.Width; len(b.memory) < need {
		b.memory = make([]float32, need)
	}
	b.reserve(rows)
	var sum float64
	for lo := 0; lo < len(u.IDs); lo += rows {
		hi := min(lo+rows, len(u.IDs))
		t.load(b, lo, hi)
		t.gather(b, lo, hi, 0)
		u.Adjust.apply(b.u.G, b.u.W)
		for g := b.u.G; len(g) > 0; g = g[u.Width:] {
			sum += SumSquares(g[:u.Width])
		}
	}
	t.u = RowUpdate{}
	return sum
}

// SumSquares returns Σ x². The square of a float32 is exact in float64. Four interleaved
// sums let the processor overlap the additions.
func SumSquares(x []float32) float64 {
	var a, b, c, d float64
	for len(x) >= 4 {
		p, q, r, s := float64(x[0]), float64(x[1]), float64(x[2]), float64(x[3])
		a, b, c, d = a+float64(p*p), b+float64(q*q), c+float64(r*r), d+float64(s*s)
		x = x[4:]
	}
	for _, v := range x {
		a += float64(float64(v) * float64(v))
	}
	return (a + b) + (c + d)
}
