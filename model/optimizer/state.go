package optimizer

import (
	"slices"
	"strconv"

	"ringtrain/model"
	"ringtrain/model/internal/kernel"
	"ringtrain/model/internal/pages"
)

// state has the common state of all optimizers: variables and their slots.
type state struct {
	engine func() *kernel.Engine
	vars   []*model.Variable
	slots  [][]Slot        // [variable][kind]
	tables []*pages.Floats // memory of the slots of variables by rows
	update kernel.RowUpdate
}

// newState makes the slots "<variable>/<name>", "<variable>/<name>_1", …: one kind for
// each initial value. The slots of dense variables share one arena per kind; the slots
// of a variable by rows have their own memory.
func newState(engine func() *kernel.Engine, vars []*model.Variable, name string, initial ...float32) state {
	s := state{engine: engine, vars: vars, slots: make([][]Slot, len(vars))}
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
				value = s.table(v.Len(), first)
			} else {
				value, arena = arena[:v.Len():v.Len()], arena[v.Len():]
			}
			s.slots[i] = append(s.slots[i], Slot{v.Name + "/" + name + suffix, v.Shape, value, v.ByRows})
		}
	}
	return s
}

// table makes a slot of a variable by rows.
func (s *state) table(n int, first float32) []float32 {
	t := pages.Make(n)
	s.tables = append(s.tables, t)
	if first != 0 {
		for i := range t.Values {
			t.Values[i] = first
		}
	}
	return t.Values
}

// Slots returns all slots of the first variable, then of the second, ….
func (s *state) Slots() []Slot { return slices.Concat(s.slots...) }

// part is a range of a variable: values, gradients and up to three slots, all of one
// length.
type part = kernel.Update

// values returns the values and slots of variable i.
func (s *state) values(i int) part {
	p := part{W: s.vars[i].Value}
	for kind := range s.slots[i] {
		p.S[kind] = s.slots[i][kind].Value
	}
	if len(p.W) != s.vars[i].Len() {
		panic("optimizer: variable has no place in an arena")
	}
	return p
}

// all returns the whole of the dense variable i.
func (s *state) all(i int) part {
	p := s.values(i)
	p.G = s.vars[i].Grad
	if len(p.G) != len(p.W) {
		panic("optimizer: gradient has no place in an arena")
	}
	return p
}

// rule is the arithmetic of an optimizer.
type rule interface {
	// dense makes the step for a dense gradient.
	dense(p part, lr float32)

	// rows sets the constants of u and the order of its slots for the rule that it
	// returns, for rows of the batch.
	rows(u *kernel.RowUpdate, lr float32) kernel.Rule
}

// apply applies r to all variables.
func (s *state) apply(r rule, lr float32, g *RowGrad) {
	offset := 0
	for i, v := range s.vars {
		if !v.ByRows {
			r.dense(s.all(i), lr)
			continue
		}
		if g == nil {
			panic("optimizer: Apply: want a gradient of the variables by rows")
		}
		p, u := s.values(i), &s.update
		*u = kernel.RowUpdate{W: p.W, S: p.S, Width: v.RowLen(), Adjust: g.adjustOf(v), Mix: g.Mix}
		s.applyRows(r.rows(u, lr), g, offset, v.Shape[0])
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
func (s *state) applyRows(r kernel.Rule, g *RowGrad, offset, rows int) {
	u := &s.update
	for _, piece := range g.Pieces {
		take(u, piece, offset)
		g.Mixed += s.engine().UpdateRows(r, u)
		if n := len(piece.IDs); n > 0 {
			u.First = int(piece.IDs[n-1]) + 1
		}
	}
	if u.Whole {
		s.engine().DecayRows(u, u.First, rows)
	}
}
