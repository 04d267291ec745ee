package interpreter

import (
	"errors"
	"fmt"
	"slices"
)

func shapePack(c *call) error {
	in := c.in[0].Shape
	if len(in) >= maxDims {
		return errRank
	}
	axis, err := within(c.bound.(int), len(in)+1)
	if err != nil {
		return err
	}
	for _, t := range c.in {
		if !slices.Equal(t.Shape, in) {
			return errors.New("shapes differ: " + shapes(c.in))
		}
	}
	var shape [maxDims]int
	copy(shape[:], in[:axis])
	shape[axis] = len(c.in)
	copy(shape[axis+1:], in[axis:])
	return c.make(0, c.in[0].Type, shape[:len(in)+1]...)
}

func pack(c *call) error {
	axis, err := within(c.bound.(int), len(c.out[0].Shape))
	if err == nil {
		c.join(c.in, Elements(c.out[0].Shape[:axis]))
	}
	return err
}

func concat(c *call) error {
	last := len(c.in) - 1
	in := c.in[:last]
	axis, err := c.scalar(last)
	if err != nil {
		return err
	}
	rank := len(in[0].Shape)
	axis, err = within(axis, rank)
	if err != nil {
		return err
	}
	if rank > maxDims {
		return errRank
	}
	var shape [maxDims]int
	copy(shape[:], in[0].Shape)
	for _, t := range in[1:] {
		if len(t.Shape) != rank || !slices.Equal(t.Shape[:axis], shape[:axis]) || !slices.Equal(t.Shape[axis+1:], shape[axis+1:rank]) {
			return fmt.Errorf("shapes differ beside axis %d: %s", axis, shapes(in))
		}
		shape[axis] += t.Shape[axis]
	}
	if err := c.make(0, in[0].Type, shape[:rank]...); err != nil {
		return err
	}
	c.join(in, Elements(shape[:axis]))
	return nil
}

// join puts the tensors side by side in each of the outer rows of output 0.
func (c *call) join(in []*Tensor, rows int) {
	out := c.out[0]
	if rows == 0 {
		return
	}
	width, at := Elements(out.Shape)/rows, 0
	for _, t := range in {
		n := Elements(t.Shape) / rows
		for row := range rows {
			out.take(row*width+at, t, row*n, n)
		}
		at += n
	}
}

func pad(c *call) error {
	in, by := c.in[0].Shape, c.in[1]
	if len(in) > maxDims || len(by.Shape) != 2 || by.Shape[0] != len(in) || by.Shape[1] != 2 {
		return fmt.Errorf("paddings of shape %v for a tensor of rank %d", by.Shape, len(in))
	}
	var shape [maxDims]int
	for d, size := range in {
		before, after := by.integer(2*d), by.integer(2*d+1)
		if before < 0 || after < 0 || before > maxBytes || after > maxBytes {
			return fmt.Errorf("paddings of dimension %d are %d and %d", d, before, after)
		}
		shape[d] = before + size + after
	}
	if err := c.make(0, c.in[0].Type, shape[:len(in)]...); err != nil {
		return err
	}
	c.out[0].zero()
	var w walk
	for d, size := range in {
		inside := Elements(shape[d+1 : len(in)])
		w.dim(size, [4]int{inside, Elements(in[d+1:])})
		w.at[0] += by.integer(2*d) * inside
	}
	w.move(c.out[0], c.in[0])
	return nil
}

// blocks relates a tensor of space to one of batches. Its cell p, counted with the margins, is cell
// p / block of the batch with the number p % block:
//
//	space [n, s…, rest]   batches [block…·n, (before+s+after)/block…, rest]
type blocks struct {
	dims                        int
	block, before, after, inner [maxDims]int // inner: cells of a batch
}

// read reads the inputs of the two operations.
func (b *blocks) read(c *call) error {
	n, err := c.list(1, &b.block)
	if err != nil {
		return err
	}
	by := c.in[2]
	if n < 1 || n+1 > min(len(c.in[0].Shape), maxDims) || len(by.Shape) != 2 || by.Shape[0] != n || by.Shape[1] != 2 {
		return fmt.Errorf("%d blocks and margins of shape %v for a tensor of shape %v", n, by.Shape, c.in[0].Shape)
	}
	b.dims = n
	for d := range n {
		b.before[d], b.after[d] = by.integer(2*d), by.integer(2*d+1)
		if b.block[d] < 1 || b.before[d] < 0 || b.after[d] < 0 || max(b.block[d], b.before[d], b.after[d]) > maxBytes {
			return fmt.Errorf("dimension %d has the block %d and the margins %d and %d", d, b.block[d], b.before[d], b.after[d])
		}
	}
	return nil
}

func spaceToBatch(c *call) error {
	var b blocks
	if err := b.read(c); err != nil {
		return err
	}
	var shape [maxDims]int
	rank := copy(shape[:], c.in[0].Shape)
	for d := range b.dims {
		size := b.before[d] + shape[d+1] + b.after[d]
		if size%b.block[d] != 0 {
			return fmt.Errorf("dimension %d has %d cells, which are no multiple of %d", d, size, b.block[d])
		}
		shape[0], shape[d+1] = shape[0]*b.block[d], size/b.block[d]
	}
	if err := c.make(0, c.in[0].Type, shape[:rank]...); err != nil {
		return err
	}
	c.out[0].zero()
	b.each(c.in[0].Shape, c.out[0].Shape, func(space, batch, n int) { c.out[0].take(batch, c.in[0], space, n) })
	return nil
}

func batchToSpace(c *call) error {
	var b blocks
	if err := b.read(c); err != nil {
		return err
	}
	var shape [maxDims]int
	rank := copy(shape[:], c.in[0].Shape)
	for d := range b.dims {
		size := shape[d+1]*b.block[d] - b.before[d] - b.after[d]
		if shape[0]%b.block[d] != 0 || size < 0 {
			return fmt.Errorf("a tensor of shape %v has no batches for the block %d of dimension %d and its margins", c.in[0].Shape, b.block[d], d)
		}
		shape[0], shape[d+1] = shape[0]/b.block[d], size
	}
	if err := c.make(0, c.in[0].Type, shape[:rank]...); err != nil {
		return err
	}
	b.each(c.out[0].Shape, c.in[0].Shape, func(space, batch, n int) { c.out[0].take(space, c.in[0], batch, n) })
	return nil
}

// each calls f with the places of n values that belong together, for all cells of the space.
func (b *blocks) each(space, batch []int, f func(space, batch, n int)) {
	n, cells := Elements(space[b.dims+1:]), Elements(space[1:b.dims+1])
	for i := range space[0] * cells {
		rest, number, at, stride := i, 0, 0, 1
		var place [maxDims]int
		for d := b.dims - 1; d >= 0; d-- {
			place[d] = rest%space[d+1] + b.before[d]
			rest /= space[d+1]
		}
		for d := range b.dims {
			number = number*b.block[d] + place[d]%b.block[d]
		}
		for d := b.dims - 1; d >= 0; d-- {
			at += place[d] / b.block[d] * stride
			stride *= batch[d+1]
		}
		f(i*n, ((number*space[0]+rest)*stride+at)*n, n)
	}
}
