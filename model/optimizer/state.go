package optimizer

import (
	"slices"
	"strconv"

	"ringtrain/model"
	"ringtrain/model/internal/kernel"
)

// state is what all optimizers have: variables, and slots beside them.
type state struct {
	engine func() *kernel.Engine
	vars   []*model.Variable
	slots  [][]Slot // [variable][kind]
}

// newState makes the slots "<variable>/<name>", "<variable>/<name>_1", …: one
// kind for each initial value.
func newState(engine func() *kernel.Engine, vars []*model.Variable, name string, initial ...float32) state {
	s := state{engine: engine, vars: vars, slots: make([][]Slot, len(vars))}
	total := 0
	for _, v := range vars {
		total += v.Len()
	}
	for kind, first := range initial {
		suffix := ""
		if kind > 0 {
			suffix = "_" + strconv.Itoa(kind)
		}
		arena := slices.Repeat([]float32{first}, total)
		for i, v := range vars {
			n := v.Len()
			s.slots[i] = append(s.slots[i], Slot{v.Name + "/" + name + suffix, v.Shape, arena[:n:n]})
			arena = arena[n:]
		}
	}
	return s
}

// Slots returns all slots of the first variable, then of the second, ….
func (s *state) Slots() []Slot { return slices.Concat(s.slots...) }

// part is a stretch of a variable: values, gradients and up to three slots, all
// of one length.
type part = kernel.Update

// all returns the whole of variable i.
func (s *state) all(i int) part {
	p := part{W: s.vars[i].Value, G: s.vars[i].Grad}
	for kind := range s.slots[i] {
		p.S[kind] = s.slots[i][kind].Value
	}
	if n := s.vars[i].Len(); len(p.W) != n || len(p.G) != n {
		panic("optimizer: variable has no place in an arena")
	}
	return p
}

// rule is the arithmetic of an optimizer for one stretch of a variable.
type rule interface {
	dense(p part, lr float32) // of a dense gradient
	rows(p part, lr float32)  // of rows that the batch touches
}

// apply runs r over all variables.
func (s *state) apply(r rule, lr float32, rows [][]int64) {
	s.mustFit(rows)
	for i, v := range s.vars {
		p := s.all(i)
		if !v.ByRows {
			r.dense(p, lr)
			continue
		}
		width := v.RowLen()
		for todo := rows[i]; len(todo) > 0; {
			var lo, hi int
			lo, hi, todo = nextRun(todo, v.Shape[0])
			r.rows(p.Cut(lo*width, hi*width), lr)
		}
	}
}

// mustFit panics unless there is a list for each variable, empty for a dense one.
// The variable says how it is updated: whether a list is nil says nothing.
func (s *state) mustFit(rows [][]int64) {
	for i, v := range s.vars {
		switch {
		case rows == nil && !v.ByRows:
		case len(rows) != len(s.vars):
			panic("optimizer: Apply: want one list of rows for each variable")
		case !v.ByRows && len(rows[i]) > 0:
			panic("optimizer: Apply: a dense variable has a list of rows")
		}
	}
}

// nextRun takes the longest run of consecutive rows, lo to hi, off the front of
// rows, which are below limit.
func nextRun(rows []int64, limit int) (lo, hi int, rest []int64) {
	n := 1
	for n < len(rows) && rows[n] == rows[n-1]+1 {
		n++
	}
	if n < len(rows) && rows[n] <= rows[n-1] {
		panic("optimizer: rows are not in ascending order")
	}
	if rows[0] < 0 || rows[n-1] >= int64(limit) {
		panic("optimizer: row is out of range")
	}
	return int(rows[0]), int(rows[n-1]) + 1, rows[n:]
}
