package model

import "ringtrain/model/tensor"

// logistic is the layer y = 1/(1+exp(−x)), with the gradient y·(1−y)·dy.
type logistic struct{ y tensor.Matrix }

func (l *logistic) forward(p *pass, in []value, out *tensor.Matrix) {
	p.engine.Sigmoid(out.Data, in[0].Data)
	l.y = *out
}

func (l *logistic) backward(p *pass, dy tensor.Matrix, dx []grad) {
	p.engine.SigmoidGrad(dx[0].Data, dy.Data, l.y.Data, dx[0].add)
}
