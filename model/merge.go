package model

import "ringtrain/model/tensor"

// add is the layer y = Σ of its inputs, in their order.
type add struct{}

func (add) forward(p *pass, in []value, out *tensor.Matrix) {
	p.engine.Sum(out.Data, in[0].Data, in[1].Data)
	for _, x := range in[2:] {
		p.engine.Add(out.Data, x.Data)
	}
}

func (add) backward(p *pass, dy tensor.Matrix, dx []grad) {
	for _, d := range dx {
		switch {
		case !d.wanted():
		case d.add:
			p.engine.Add(d.Data, dy.Data)
		default:
			copy(d.Data, dy.Data)
		}
	}
}

// concat is the layer that concatenates its inputs along the last axis.
type concat struct {
	widths []int // sizes of the inputs' last axes
}

func (c *concat) forward(_ *pass, in []value, out *tensor.Matrix) {
	at, total := 0, c.total()
	if len(out.Data) == 0 {
		return
	}
	for k, x := range in {
		copyColumns(out.Data[at:], total, x.Data, c.widths[k], c.widths[k])
		at += c.widths[k]
	}
}

func (c *concat) backward(_ *pass, dy tensor.Matrix, dx []grad) {
	at, total := 0, c.total()
	for k, d := range dx {
		w := c.widths[k]
		switch {
		case !d.wanted() || len(dy.Data) == 0:
		case d.add:
			addColumns(d.Data, w, dy.Data[at:], total, w)
		default:
			copyColumns(d.Data, w, dy.Data[at:], total, w)
		}
		at += w
	}
}

func (c *concat) total() int {
	n := 0
	for _, w := range c.widths {
		n += w
	}
	return n
}

// copyColumns copies rows of width elements. The strides are the distances of row starts
// in dst and src.
func copyColumns(dst []float32, dstStride int, src []float32, srcStride, width int) {
	for len(src) >= width && len(dst) >= width {
		copy(dst[:width], src)
		dst, src = dst[min(dstStride, len(dst)):], src[min(srcStride, len(src)):]
	}
}

// addColumns is copyColumns with addition.
func addColumns(dst []float32, dstStride int, src []float32, srcStride, width int) {
	for len(src) >= width && len(dst) >= width {
		for i, v := range src[:width] {
			dst[i] += v
		}
		dst, src = dst[min(dstStride, len(dst)):], src[min(srcStride, len(src)):]
	}
}
