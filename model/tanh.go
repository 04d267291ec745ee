package model

import "ringtrain/model/tensor"

// tanh is the layer y = tanh x, with the gradient (1−y²)·dy.
type tanh struct{ y tensor.Matrix }

func (t *tanh) forward(p *pass, in []value, out *tensor.Matrix) {
	p.engine.Tanh(out.Data, in[0].Data)
	t.y = *out
}

func (t *tanh) backward(p *pass, dy tensor.Matrix, dx []grad) {
	p.engine.TanhGrad(dx[0].Data, dy.Data, t.y.Data, dx[0].add)
}
