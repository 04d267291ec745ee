package optimizer

import (
	"slices"
	"strconv"

	"ringtrain/model"
	"ringtrain/model/internal/pages"
	"ringtrain/model/kernel"
)

// Optimizer updates variables in place. Only one goroutine may use it. Its methods allocate nothing but the
// result of Slots.
type Optimizer struct {
	kind   kind
	config Config // no setting is omitted
	engine func() *kernel.Engine
	vars   []*model.Variable
	slots  [][]Slot        // [variable][kind]
	powers [2][]float32    // β₁ᵗ and β₂ᵗ, one element each; nil without them
	tables []*pages.Floats // memory of the slots of variables by rows
	update kernel.RowUpdate
}

// New returns the optimizer of c with its slots at TensorFlow's initial values. It keeps
// references to Value and Grad of vars, which the caller may place later, but before
// Apply. Each Apply calls engine for the compute engine, which the caller owns; its
// kernel set and threads change no bit. If engine is nil, the machine's highest set runs
// on the goroutine of Apply.
func New(c Config, vars []*model.Variable, engine func() *kernel.Engine) (*Optimizer, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if engine == nil {
		sets := kernel.Sets()
		own := kernel.New(sets[len(sets)-1], 1)
		engine = func() *kernel.Engine { return own }
	}
	k, _ := kindOf(c.Name)
	o := &Optimizer{kind: k, config: k.withDefaults(c), engine: engine, vars: vars, slots: make([][]Slot, len(vars))}
	if k.powers {
		o.powers = [2][]float32{{float32(*o.config.Beta1)}, {float32(*o.config.Beta2)}}
	}
	o.makeSlots(k.initial(c))
	return o, nil
}

// makeSlots makes the slots "<variable>/<slot>", "<variable>/<slot>_1", …: one for each initial value.
// Those of dense variables share one arena per initial value; those of a variable by rows have their own
// memory.
func (o *Optimizer) makeSlots(initial []float32) {
	vars := o.vars
	total := 0
	for _, v := range vars {
		if !v.ByRows {
			total += v.Len()
		}
	}
	for kind, first := range initial {
		suffix := ""
		if kind > 0 {
			suffix = "_" + strconv.Itoa(kind)
		}
		arena := slices.Repeat([]float32{first}, total)
		for i, v := range vars {
			var value []float32
			if v.ByRows {
				value = o.table(v.Len(), first)
			} else {
				value, arena = arena[:v.Len():v.Len()], arena[v.Len():]
			}
			o.slots[i] = append(o.slots[i], Slot{v.Name + "/" + o.kind.slot + suffix, v.Shape, value, v.ByRows})
		}
	}
}

// table makes a slot of a variable by rows.
func (o *Optimizer) table(n int, first float32) []float32 {
	t := pages.Make(n)
	o.tables = append(o.tables, t)
	if first != 0 {
		for i := range t.Values {
			t.Values[i] = first
		}
	}
	return t.Values
}

// Slots returns the slot variables in TensorFlow's order of creation: the powers, all slots of the first
// variable, then those of the second, …. Their values are views: a restore writes into them.
func (o *Optimizer) Slots() []Slot {
	var all []Slot
	for i, name := range []string{"beta1_power", "beta2_power"} {
		if o.kind.powers {
			all = append(all, Slot{Name: name, Shape: []int{}, Value: o.powers[i]})
		}
	}
	return append(all, slices.Concat(o.slots...)...)
}

// values returns the values and slots of variable i, up to three slots, all of one length.
func (o *Optimizer) values(i int, swap bool) kernel.Update {
	p := kernel.Update{W: o.vars[i].Value}
	for kind := range o.slots[i] {
		p.S[kind] = o.slots[i][kind].Value
	}
	if swap {
		p.S[1], p.S[2] = p.S[2], p.S[1]
	}
	if len(p.W) != o.vars[i].Len() {
		panic("optimizer: variable has no place in an arena")
	}
	return p
}

// Apply makes one step with learning rate lr: it reads each variable's Grad and changes its Value and its
// slots. g is the gradient of the variables by rows; it may be nil if there are none.
func (o *Optimizer) Apply(lr float32, g *RowGrad) {
	n := now{rate: lr}
	if o.kind.powers {
		n.power1, n.power2 = o.powers[0][0], o.powers[1][0]
	}
	if s := o.kind.step(o.config, n); !s.none {
		o.apply(s, lr, g)
	}
	if o.kind.powers {
		o.powers[0][0] *= float32(*o.config.Beta1)
		o.powers[1][0] *= float32(*o.config.Beta2)
	}
}

// apply makes step s on all variables.
func (o *Optimizer) apply(s step, lr float32, g *RowGrad) {
	offset := 0
	for i, v := range o.vars {
		p := o.values(i, s.swap)
		if !v.ByRows {
			if p.G, p.C = v.Grad, s.dense.c; len(p.G) != len(p.W) {
				panic("optimizer: gradient has no place in an arena")
			}
			o.engine().Update(s.dense.rule, &p)
			continue
		}
		if g == nil {
			panic("optimizer: Apply: want a gradient of the variables by rows")
		}
		o.update = kernel.RowUpdate{W: p.W, S: p.S, C: s.rows.c, Width: v.RowLen(), Adjust: g.adjustOf(v), Mix: g.Mix}
		if o.kind.movesAll {
			o.update.Whole, o.update.Decay, o.update.Rate = true, s.decay, lr
		}
		o.applyRows(s.rows.rule, g, offset, v.Shape[0])
		offset += v.RowLen()
	}
	for i := 0; g != nil && i < len(g.Pieces); i++ {
		if g.Pieces[i].Width != offset {
			panic("optimizer: Apply: rows have another width than the variables")
		}
	}
}

// applyRows applies r to the variable in s.update, whose gradient begins at offset in
// each row of g.
func (o *Optimizer) applyRows(r kernel.Rule, g *RowGrad, offset, rows int) {
	u := &o.update
	for _, piece := range g.Pieces {
		take(u, piece, offset)
		g.Mixed += o.engine().UpdateRows(r, u)
		if n := len(piece.IDs); n > 0 {
			u.First = int(piece.IDs[n-1]) + 1
		}
	}
	if u.Whole {
		o.engine().DecayRows(u, u.First, rows)
	}
}
