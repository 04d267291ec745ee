package model

import "ringtrain/model/tensor"

// leakyReLU is the layer y = x for x > 0, else slope·x. The gradient needs only y, which
// has the sign of x if the slope is above 0; with slope 0 the gradient is that of relu.
type leakyReLU struct {
	slope float32
	y     tensor.Matrix
}

func (l *leakyReLU) forward(p *pass, in []value, out *tensor.Matrix) {
	p.engine.LeakyReLU(out.Data, in[0].Data, l.slope)
	l.y = *out
}

func (l *leakyReLU) backward(p *pass, dy tensor.Matrix, dx []grad) {
	p.engine.LeakyReLUGrad(dx[0].Data, dy.Data, l.y.Data, l.slope, dx[0].add)
}
