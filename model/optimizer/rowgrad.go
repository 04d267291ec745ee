package optimizer

import (
	"ringtrain/model"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// Slot is a slot variable: state of the optimizer, of the shape of its variable, or a
// scalar (no dimensions, one value).
type Slot struct {
	Name   string
	Shape  []int
	Value  []float32
	ByRows bool // as its variable
}

// RowGrad is the gradient of the variables by rows: the rows of the global batch. All
// other rows are zero.
type RowGrad struct {
	// Pieces have distinct ids in ascending order, also from piece to piece. A row has
	// the gradients of all variables by rows side by side, in forward order.
	Pieces []tensor.Rows

	// Adjust changes gradients before the rule. L1 and L2 apply to variables with Decay.
	Adjust kernel.Adjust

	// Mix makes Apply set Mixed: a hash of the changed rows after the step. It depends
	// only on ids and values.
	Mix   bool
	Mixed uint64
}

// Squares returns the sum of the squares of all adjusted gradients of the variables by
// rows, in float64 and in the order of variables, rows and elements.
func (g *RowGrad) Squares(e *kernel.Engine, vars []*model.Variable) float64 {
	sum, offset := 0.0, 0
	for _, v := range vars {
		if !v.ByRows {
			continue
		}
		u := kernel.RowUpdate{W: v.Value, Width: v.RowLen(), Adjust: g.adjustOf(v)}
		for _, p := range g.Pieces {
			take(&u, p, offset)
			sum += e.SquaresOfRows(&u)
		}
		offset += v.RowLen()
	}
	return sum
}

// adjustOf returns the adjustment for v.
func (g *RowGrad) adjustOf(v *model.Variable) kernel.Adjust {
	a := g.Adjust
	if !v.Decay {
		a.L1, a.L2 = 0, 0
	}
	return a
}

// take sets the gradient of u to the rows of p from an offset on.
func take(u *kernel.RowUpdate, p tensor.Rows, offset int) {
	u.IDs, u.G, u.Stride = p.IDs, p.Values, p.Width
	if len(p.IDs) > 0 {
		u.G = p.Values[offset:]
	}
}
