package model

import "ringtrain/model/tensor"

// tanh is the layer y = tanh x, with the gradient (1−y²)·dy.
type tanh struct{ y tensor.Matrix }

func (l *tanh) forward(p *pass, in []value, out *tensor.Matrix) {
	p.engine.Tanh(out.Data, in[0].Data)
	l.y = *out
}

func (l *tanh) backward(p *pass, dy tensor.Matrix, dx []grad) {
	p.engine.TanhGrad(dx[0].Data, dy.Data, l.y.Data, dx[0].add)
}
