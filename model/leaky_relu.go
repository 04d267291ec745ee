package model

import "ringtrain/model/tensor"

// leakyReLU is the layer y = x, or slope·x below 0. The gradient needs no more than y, whose
// sign is x's for a slope above 0; for slope 0 it is that of relu.
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
