package model

import "ringtrain/model/tensor"

// gelu is the layer y = x·Φ(x), Φ the normal distribution function (Hendrycks and
// Gimpel, "Gaussian error linear units", 2016). It uses the error function, as Keras and
// PyTorch do by default, not the approximation by tanh.
type gelu struct{ x tensor.Matrix }

func (g *gelu) forward(p *pass, in []value, out *tensor.Matrix) {
	g.x = in[0].Matrix
	p.engine.GELU(out.Data, g.x.Data)
}

func (g *gelu) backward(p *pass, dy tensor.Matrix, dx []grad) {
	p.engine.GELUGrad(dx[0].Data, dy.Data, g.x.Data, dx[0].add)
}
