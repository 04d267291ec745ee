package model

import "ringtrain/model/tensor"

// flatten is the layer that reshapes an example to one row.
type flatten struct{}

func (flatten) forward(_ *pass, in []value, out *tensor.Matrix) { copy(out.Data, in[0].Data) }

func (flatten) backward(p *pass, dy tensor.Matrix, dx []grad) {
	if dx[0].add {
		p.engine.Add(dx[0].Data, dy.Data)
		return
	}
	copy(dx[0].Data, dy.Data)
}

func (flatten) mask(_ *pass, _, _ tensor.Matrix) {}
