package kernel

import "math"

// Binary writes the probability p = 1/(1+e⁻ᶻ) of each logit. If losses is not nil,
// Binary also writes the cross-entropy with the label y of 0 or 1, with the target t =
// (1−s)·y + s/2 for smoothing s:
//
//	max(z, 0) − z·t + log(1 + e^−|z|)
//
// This form neither overflows nor loses digits for large |z|. The exponential and the
// logarithm are float32 (see exp32, logOnePlus), the rest is float64. The relative error
// of a loss is at most 1e-6. p must not be z if losses is not nil.
func (e *Engine) Binary(p []float32, losses []float64, z, y []float32, smoothing float32) {
	e.elements(opSigmoid, p, z, z, 0, false)
	if losses == nil {
		return
	}
	if len(losses) != len(z) || len(y) != len(z) {
		panic("kernel: Binary: length does not match shape")
	}
	for lo := 0; lo < len(z); lo += addBlock {
		hi := min(lo+addBlock, len(z))
		e.binaryLosses(losses[lo:hi], z[lo:hi], y[lo:hi], float64(smoothing))
	}
}

// binaryLosses writes the losses of up to addBlock logits, with vectorized exponentials
// and logarithms.
func (e *Engine) binaryLosses(losses []float64, z, y []float32, s float64) {
	x, u := e.binary[0][:len(z)], e.binary[1][:len(z)]
	for i, v := range z {
		x[i] = -float32(math.Abs(float64(v)))
	}
	opExp.apply(e.set, x, x, x, 0)
	for i, v := range x {
		u[i] = onePlus(float64(v))
	}
	log := e.binary[2][:len(z)]
	opLog.apply(e.set, log, u, u, 0)
	for i, v := range z {
		target := float64((1-s)*float64(y[i])) + float64(s*0.5)
		tail := logOf(float64(x[i]), u[i], log[i])
		if v > 0 {
			losses[i] = float64(float64(v)*(1-target)) + tail
		} else {
			losses[i] = tail - float64(float64(v)*target)
		}
	}
}

// BinaryGrad writes (p − t)·weight to dz, which may be p.
func (e *Engine) BinaryGrad(dz, p, y, weight []float32, smoothing float32) {
	if len(dz) != len(p) || len(y) != len(p) || len(weight) != len(p) {
		panic("kernel: BinaryGrad: length does not match shape")
	}
	for i, v := range p {
		target := float32((1-smoothing)*y[i]) + float32(smoothing*0.5)
		dz[i] = (v - target) * weight[i]
	}
}
