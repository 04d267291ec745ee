package kernel

// softmaxRows is a softmax on its way over the threads of an engine.
type softmaxRows struct {
	set       Set
	p, z      []float32
	losses    []float64
	y, weight []float32
	k         int
	smoothing float32
	gradient  bool
}

// Softmax writes the softmax of each row of z [n, k] to p, which may be z. Where
// losses is not nil it also writes the cross-entropy of each row against its class
// in y, with the target (1−s)·[j = class] + s/k for smoothing s:
//
//	log Σ exp(z[j]−top) + Σ target[j]·(top − z[j])      top = max z
//
// The exponentials, their sum and its logarithm are float32 (see exp32, laneSum,
// log32), the rest is float64. For finite z the relative error of a probability that is not denormal,
// and of a loss, is at most (16 + k/16 + d)·2⁻²⁴: d is the distance of the smallest
// z from the largest, whose difference is rounded.
func (e *Engine) Softmax(p []float32, losses []float64, z, y []float32, k int, smoothing float32) {
	rows := wantRows(p, z, k)
	if losses != nil {
		if len(losses) != rows || len(y) != rows {
			panic("kernel: Softmax: length does not match shape")
		}
		if rows > 0 && &p[0] == &z[0] {
			panic("kernel: Softmax: a loss needs z after p is written")
		}
		wantClasses(y, k)
	}
	t := &e.softmaxRows
	*t = softmaxRows{set: e.set, p: p, z: z, losses: losses, y: y, k: k, smoothing: smoothing}
	e.Run(rows, 1+elementGrain/(4*k), t)
}

// SoftmaxGrad writes (p − target)·weight to dz, row by row: the gradient of
// Σ weight[i]·loss[i]. dz may be p.
func (e *Engine) SoftmaxGrad(dz, p, y, weight []float32, k int, smoothing float32) {
	rows := wantRows(dz, p, k)
	if len(y) != rows || len(weight) != rows {
		panic("kernel: SoftmaxGrad: length does not match shape")
	}
	wantClasses(y, k)
	t := &e.softmaxRows
	*t = softmaxRows{set: e.set, p: dz, z: p, y: y, weight: weight, k: k, smoothing: smoothing, gradient: true}
	e.Run(rows, 1+elementGrain/k, t)
}

func wantRows(dst, src []float32, k int) int {
	if k < 1 || len(dst) != len(src) || len(dst)%k != 0 {
		panic("kernel: softmax: length does not match shape")
	}
	return len(dst) / k
}

// wantClasses panics unless each label is a class. The input has checked them.
func wantClasses(y []float32, k int) {
	for _, v := range y {
		if c := int(v); c < 0 || c >= k || float32(c) != v {
			panic("kernel: label is not a class")
		}
	}
}

// Span does rows lo to hi.
func (t *softmaxRows) Span(lo, hi, _ int) {
	if t.gradient {
		for i := lo; i < hi; i++ {
			t.backward(t.p[i*t.k:(i+1)*t.k], t.z[i*t.k:(i+1)*t.k], int(t.y[i]), t.weight[i])
		}
		return
	}
	for i := lo; i < hi; i++ {
		z, p := t.z[i*t.k:(i+1)*t.k], t.p[i*t.k:(i+1)*t.k]
		top := rowMax(z)
		if t.losses != nil {
			t.losses[i] = float64(top) // until the loss is known
		}
		opShift.apply(t.set, p, z, z, top)
	}
	all := t.p[lo*t.k : hi*t.k]
	opExp.apply(t.set, all, all, all, 0)
	for i := lo; i < hi; i++ {
		p := t.p[i*t.k : (i+1)*t.k]
		sum := laneSum(t.set, p)
		if t.losses != nil {
			t.losses[i] = t.loss(p, t.z[i*t.k:(i+1)*t.k], sum, t.losses[i], int(t.y[i]))
		}
		opDivide.apply(t.set, p, p, p, sum)
	}
}

// loss is the loss of a row, from the exponentials, their sum and the largest z.
func (t *softmaxRows) loss(e, z []float32, sum float32, top float64, class int) float64 {
	own := float64(z[class])
	loss := logSum(e, sum, class, own == top)
	if t.smoothing == 0 {
		return loss + (top - own)
	}
	all := 0.0
	for _, v := range z {
		all += top - float64(v)
	}
	s := float64(t.smoothing)
	return loss + float64((1-s)*(top-own)) + float64(s/float64(len(z))*all)
}

// logSum is the logarithm of the sum. Where the class has the largest score and the
// sum is near 1, that is the whole loss: then it is taken of the others' sum, or
// the digits of a small loss would be lost.
func logSum(e []float32, sum float32, class int, largest bool) float64 {
	if !largest || sum > 2 {
		return float64(log32(sum))
	}
	others := 0.0
	for j, v := range e {
		if j != class {
			others += float64(v)
		}
	}
	return logOnePlus(others)
}

func (t *softmaxRows) backward(d, p []float32, class int, weight float32) {
	share := t.smoothing / float32(len(p))
	own := (p[class] - (1 - t.smoothing + share)) * weight
	if t.smoothing == 0 {
		opScale.apply(t.set, d, p, p, weight)
	} else {
		for j, v := range p {
			d[j] = (v - share) * weight
		}
	}
	d[class] = own
}

// rowMax is the largest element of x, which is not empty. With a NaN it may be any
// of them.
func rowMax(x []float32) float32 {
	top := x[0]
	for _, v := range x[1:] {
		if v > top {
			top = v
		}
	}
	return top
}
