package kernel

// softmaxRows is the task of a softmax.
type softmaxRows struct {
	set       Set
	p, z      []float32
	losses    []float64
	y, weight []float32
	k         int
	smoothing float32
	gradient  bool
}

// Softmax writes the softmax of each row of z [n, k] to p, which may be z. If losses is
// not nil, it also writes the cross-entropy of each row with its class in y, with the
// target (1−s)·[j = class] + s/k for smoothing s:
//
//	log Σ exp(z[j]−top) + Σ target[j]·(top − z[j])      top = max z
//
// The exponentials, their sum and its logarithm are float32 (see exp32, laneSum, log32),
// the rest is float64. For finite z the relative error of a probability that is not
// denormal, and of a loss, is at most (16 + k/16 + d)·2⁻²⁴. d is the rounded difference
// of the largest and the smallest z.
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

// wantClasses panics unless each label is a class. Package input has checked the labels.
func wantClasses(y []float32, k int) {
	for _, v := range y {
		if c := int(v); c < 0 || c >= k || float32(c) != v {
			panic("kernel: label is not a class")
		}
	}
}

// Span computes rows lo to hi.
func (r *softmaxRows) Span(lo, hi, _ int) {
	switch {
	case r.gradient:
		for i := lo; i < hi; i++ {
			r.backward(r.p[i*r.k:(i+1)*r.k], r.z[i*r.k:(i+1)*r.k], int(r.y[i]), r.weight[i])
		}
	case r.k <= lanes:
		r.few(lo, hi)
	default:
		r.many(lo, hi)
	}
}

// many computes rows with more classes than lanes: each step for all rows.
func (r *softmaxRows) many(lo, hi int) {
	for i := lo; i < hi; i++ {
		z, p := r.z[i*r.k:(i+1)*r.k], r.p[i*r.k:(i+1)*r.k]
		top := rowMax(z)
		if r.losses != nil {
			r.losses[i] = float64(top) // temporary value
		}
		opShift.apply(r.set, p, z, z, top)
	}
	all := r.p[lo*r.k : hi*r.k]
	opExp.apply(r.set, all, all, all, 0)
	for i := lo; i < hi; i++ {
		p := r.p[i*r.k : (i+1)*r.k]
		s := softmaxSums{sum: laneSum(r.set, p)}
		if r.losses != nil {
			s.top = float32(r.losses[i])
			own := int(r.y[i])
			e := p[own]
			p[own] = 0
			s.others = laneSum(r.set, p)
			p[own] = e
			r.losses[i] = r.loss(i, s)
		}
		opDivide.apply(r.set, p, p, p, s.sum)
	}
}

// softmaxSums has the largest z of a row, the sum of its exponentials, and the sum
// without that of the class.
type softmaxSums struct{ top, sum, others float32 }

// few computes rows with at most as many classes as lanes.
func (r *softmaxRows) few(lo, hi int) {
	var sums [64]softmaxSums
	for ; lo < hi; lo += len(sums) {
		end := min(hi, lo+len(sums))
		var y []float32
		if r.losses != nil {
			y = r.y[lo:end]
		}
		fewClasses(r.set, r.p[lo*r.k:end*r.k], r.z[lo*r.k:end*r.k], y, sums[:end-lo], r.k)
		if r.losses != nil {
			for i := lo; i < end; i++ {
				r.losses[i] = r.loss(i, sums[i-lo])
			}
		}
	}
}

// fewClassesRef writes the probabilities of each row and its sums. The lanes are the
// classes. y is nil if the sum of the others is not needed.
func fewClassesRef(p, z, y []float32, out []softmaxSums, k int) {
	for i := range out {
		z, p := z[i*k:(i+1)*k], p[i*k:(i+1)*k]
		top := rowMax(z)
		var all, others [lanes]float32
		for j, v := range z {
			all[j] = exp32(v - top)
			p[j] = all[j]
		}
		others = all
		if y != nil {
			others[int(y[i])] = 0
		}
		sum := fold(&all)
		out[i] = softmaxSums{top, sum, fold(&others)}
		for j, e := range p {
			p[j] = e / sum
		}
	}
}

// loss returns the loss of row i. If the class has the largest z and the sum is near 1,
// the loss is the logarithm of the sum. It is then computed from the sum of the other
// classes, to keep the digits of a small loss.
func (r *softmaxRows) loss(i int, s softmaxSums) float64 {
	z := r.z[i*r.k : (i+1)*r.k]
	top, own := float64(s.top), float64(z[int(r.y[i])])
	loss := float64(log32(s.sum))
	if own == top && !(s.sum > 2) {
		loss = logOnePlus(float64(s.others))
	}
	if r.smoothing == 0 {
		return loss + (top - own)
	}
	all := 0.0
	for _, v := range z {
		all += top - float64(v)
	}
	smoothing := float64(r.smoothing)
	return loss + float64((1-smoothing)*(top-own)) + float64(smoothing/float64(r.k)*all)
}

func (r *softmaxRows) backward(d, p []float32, class int, weight float32) {
	share := r.smoothing / float32(len(p))
	own := (p[class] - (1 - r.smoothing + share)) * weight
	if share == 0 && len(p) > lanes {
		opScale.apply(r.set, d, p, p, weight)
	} else {
		d = d[:len(p)]
		for j, v := range p {
			d[j] = (v - share) * weight
		}
	}
	d[class] = own
}

// rowMax returns the largest element of x, which is not empty. With a NaN it may return
// any element.
func rowMax(x []float32) float32 {
	top := x[0]
	for _, v := range x[1:] {
		if v > top {
			top = v
		}
	}
	return top
}
