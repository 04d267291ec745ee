package model

import (
	"ringtrain/model/graph"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// activation is a layer that maps each element: y = f(x).
type activation struct {
	f    func(e *kernel.Engine, y, x []float32)
	grad func(e *kernel.Engine, dx, dy, kept []float32, add bool)
	ofX  bool // grad reads x; else y

	kept []float32 // x or y of the last forward
}

// relu is the activation y = max(x, 0). After a dense layer or a convolution it is a view
// of that output. Its derivative at 0 is 0, as in TensorFlow.
type relu struct{ activation }

// newActivation returns the activation of a node.
func newActivation(n *graph.Node) layer {
	switch n.Op {
	case graph.OpReLU:
		return &relu{activation{f: (*kernel.Engine).ReLU, grad: (*kernel.Engine).ReLUGrad}}
	case graph.OpLeakyReLU: // y = x for x > 0, else slope·x
		slope := n.Attr.Alpha
		// The gradient needs only y, which has the sign of x if the slope is above 0; with
		// slope 0 the gradient is that of relu.
		return &activation{
			f: func(e *kernel.Engine, y, x []float32) { e.LeakyReLU(y, x, slope) },
			grad: func(e *kernel.Engine, dx, dy, y []float32, add bool) {
				e.LeakyReLUGrad(dx, dy, y, slope, add)
			},
		}
	case graph.OpTanh: // the gradient is (1−y²)·dy
		return &activation{f: (*kernel.Engine).Tanh, grad: (*kernel.Engine).TanhGrad}
	case graph.OpSigmoid: // y = 1/(1+exp(−x)), the gradient is y·(1−y)·dy
		return &activation{f: (*kernel.Engine).Sigmoid, grad: (*kernel.Engine).SigmoidGrad}
	case graph.OpGELU:
		// y = x·Φ(x), Φ the normal distribution function (Hendrycks and Gimpel, "Gaussian
		// error linear units", 2016). It uses the error function, as Keras and PyTorch do
		// by default, not the approximation by tanh.
		return &activation{f: (*kernel.Engine).GELU, grad: (*kernel.Engine).GELUGrad, ofX: true}
	}
	panic("model: no layer for op " + string(n.Op))
}

func (a *activation) forward(p *pass, in []value, out *tensor.Matrix) {
	a.kept = out.Data
	if a.ofX {
		a.kept = in[0].Data
	}
	a.f(p.engine, out.Data, in[0].Data)
}

func (a *activation) backward(p *pass, dy tensor.Matrix, dx []grad) {
	a.grad(p.engine, dx[0].Data, dy.Data, a.kept, dx[0].add)
}

func (r *relu) mask(p *pass, y, dy tensor.Matrix) {
	p.engine.ReLUGrad(dy.Data, dy.Data, y.Data, false)
}
