package optimizer

import (
	"ringtrain/model"
	"ringtrain/model/internal/kernel"
	"ringtrain/model/tensor"
)

// Optimizer updates variables in place. It is for one goroutine; its methods
// allocate nothing but what Slots returns.
type Optimizer interface {
	// Apply makes one step at learning rate lr: it reads each variable's Grad and
	// changes its Value and its slots. The gradient of variables by rows is g, which
	// may be nil if there is none such.
	Apply(lr float32, g *RowGrad)

	// Slots returns the slot variables in TensorFlow's order of creation. Their
	// values are views: what is written there is restored.
	Slots() []Slot
}

// Slot is a slot variable: state of the optimizer, of the shape of its variable
// or a scalar (shape of no dimensions, one value).
type Slot struct {
	Name   string
	Shape  []int
	Value  []float32
	ByRows bool // as its variable
}

// RowGrad is the gradient of the variables by rows: the rows that the global batch
// touches, and all others are zero.
type RowGrad struct {
	// Pieces have distinct ids, which ascend from one piece to the next, too. A row has
	// the gradients of all variables by rows side by side, in forward order.
	Pieces []tensor.Rows

	// Adjust changes gradients before the rule. L1 and L2 hold for variables with Decay.
	Adjust kernel.Adjust

	// Mix asks for Mixed: a mix of the rows that the step has changed, as they are after
	// it. It depends on ids and values alone.
	Mix   bool
	Mixed uint64
}

// Squares returns the sum of the squares of all gradients of vars by rows, adjusted, in
// float64 and in the order of variables, rows and elements.
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

// adjustOf is what holds for v.
func (g *RowGrad) adjustOf(v *model.Variable) kernel.Adjust {
	a := g.Adjust
	if !v.Decay {
		a.L1, a.L2 = 0, 0
	}
	return a
}

// take makes the rows of p, from an offset on, the gradient of u.
func take(u *kernel.RowUpdate, p tensor.Rows, offset int) {
	u.IDs, u.G, u.Stride = p.IDs, p.Values, p.Width
	if len(p.IDs) > 0 {
		u.G = p.Values[offset:]
	}
}

// New returns the optimizer that c describes, with its slots at TensorFlow's
// initial values. Of vars it keeps Value and Grad by reference: they may be
// placed later, but before Apply. Each Apply asks for the engine that does its
// arithmetic, which stays the caller's; its set and its threads change no bit. Where
// engine is nil, the machine's highest set runs on the goroutine of Apply.
func New(c Config, vars []*model.Variable, engine func() *kernel.Engine) (Optimizer, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if engine == nil {
		sets := kernel.Sets()
		own := kernel.New(sets[len(sets)-1], 1)
		engine = func() *kernel.Engine { return own }
	}
	switch c.Name {
	case "sgd":
		return newSGD(vars, engine), nil
	case "momentum":
		return newMomentum(c, vars, engine), nil
	case "adagrad":
		return newAdagrad(c, vars, engine), nil
	case "adadelta":
		return newAdadelta(c, vars, engine), nil
	case "adam", "adamw", "lazy-adam":
		return newAdam(c, vars, engine), nil
	case "ftrl":
		return newFtrl(c, vars, engine), nil
	case "rmsprop":
		return newRMSProp(c, vars, engine), nil
	}
	panic("optimizer: checked name is unknown")
}
