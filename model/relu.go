package model

import "ringtrain/model/tensor"

// relu is the layer y = max(x, 0). After a dense layer or a convolution it is a view of
// that output. Its derivative at 0 is 0, as in TensorFlow.
type relu struct{ y tensor.Matrix }

func (r *relu) forward(p *pass, in []value, out *tensor.Matrix) {
	p.engine.ReLU(out.Data, in[0].Data)
	r.y = *out
}

func (r *relu) backward(p *pass, dy tensor.Matrix, dx []grad) {
	p.engine.ReLUGrad(dx[0].Data, dy.Data, r.y.Data, dx[0].add)
}

func (r *relu) mask(p *pass, y, dy tensor.Matrix) {
	p.engine.ReLUGrad(dy.Data, dy.Data, y.Data, false)
}
