package optimizer

import (
	"ringtrain/model"
	"ringtrain/model/internal/kernel"
	"ringtrain/model/tensor"
)

// Optimizer updates variables in place. Only one goroutine may use it. Its methods
// allocate nothing but the result of Slots.
type Optimizer interface {
	// Apply makes one step with learning rate lr: it reads each variable's Grad and
	// changes its Value and its slots. g is the gradient of the variables by rows; it
	// may be nil if there are none.
	Apply(lr float32, g *RowGrad)

	// Slots returns the slot variables in TensorFlow's order of creation. Their values
	// are views: a restore writes into them.
	Slots() []Slot
}

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

// New returns the optimizer of c with its slots at TensorFlow's initial values. It keeps
// references to Value and Grad of vars, which the caller may place later, but before
// Apply. Each Apply calls engine for the compute engine, which the caller owns; its
// kernel set and threads change no bit. If engine is nil, the machine's highest set runs
// on the goroutine of Apply.
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
