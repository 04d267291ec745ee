package optimizer

import (
	"ringtrain/model"
	"ringtrain/model/internal/kernel"
)

// Optimizer updates variables in place. It is for one goroutine; its methods
// allocate nothing but what Slots returns.
type Optimizer interface {
	// Apply makes one step at learning rate lr: it reads each variable's Grad
	// and changes its Value and its slots. Where variable i is ByRows, rows[i]
	// lists, ascending and once each, the rows that the global batch touches; an
	// empty list, nil or not, touches none. A dense variable has no list. rows may
	// be nil if no variable is ByRows.
	Apply(lr float32, rows [][]int64)

	// Slots returns the slot variables in TensorFlow's order of creation. Their
	// values are views: what is written there is restored.
	Slots() []Slot
}

// Slot is a slot variable: state of the optimizer, of the shape of its variable
// or a scalar (shape of no dimensions, one value).
type Slot struct {
	Name  string
	Shape []int
	Value []float32
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
	case "adam", "adamw":
		return newAdam(c, vars, engine), nil
	case "ftrl":
		return newFtrl(c, vars, engine), nil
	case "rmsprop":
		return newRMSProp(c, vars, engine), nil
	}
	panic("optimizer: checked name is unknown")
}
