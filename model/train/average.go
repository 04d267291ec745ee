package train

import (
	"ringtrain/model"
	"ringtrain/model/internal/kernel"
	"ringtrain/model/internal/pages"
	"ringtrain/model/job"
	"ringtrain/model/optimizer"
	"ringtrain/model/train/trained"
)

// averages are those of all variables; nil where none are kept.
type averages struct {
	engine func() *kernel.Engine
	vars   []*model.Variable
	values [][]float32 // of each variable
	tables []*pages.Floats
	rate   float32 // 1 − decay, both in float32 as in TensorFlow
}

func newAverages(a job.Average, vars []*model.Variable, engine func() *kernel.Engine) *averages {
	if a.Decay == 0 {
		return nil
	}
	m := &averages{engine: engine, vars: vars, rate: 1 - float32(a.Decay)}
	for _, v := range vars {
		if v.ByRows {
			table := pages.Make(v.Len())
			m.values, m.tables = append(m.values, table.Values), append(m.tables, table)
			continue
		}
		m.values = append(m.values, make([]float32, v.Len()))
	}
	return m
}

// reset begins with the variables as they are.
func (m *averages) reset() {
	if m == nil {
		return
	}
	for i, v := range m.vars {
		copy(m.values[i], v.Value)
	}
}

// update takes in the variables after an update, of which g are the rows.
func (m *averages) update(g *optimizer.RowGrad) {
	e := m.engine()
	for i, v := range m.vars {
		if v.ByRows {
			m.updateRows(m.values[i], v, g)
		} else {
			e.Average(m.values[i], v.Value, m.rate)
		}
	}
}

// updateRows takes in the rows of g.
func (m *averages) updateRows(average []float32, v *model.Variable, g *optimizer.RowGrad) {
	w := v.RowLen()
	for _, p := range g.Pieces {
		for _, id := range p.IDs {
			a, x := average[int(id)*w:][:w], v.Value[int(id)*w:][:w]
			for j := range a {
				a[j] -= float32((a[j] - x[j]) * m.rate)
			}
		}
	}
}

// swap exchanges the averages and the variables' values.
func (m *averages) swap() {
	for i, v := range m.vars {
		a := m.values[i]
		for j, x := range v.Value {
			v.Value[j], a[j] = a[j], x
		}
	}
}

// during calls f with the averages in the variables' place, if use is true.
func (m *averages) with(use bool, f func() error) error {
	if m == nil || !use {
		return f()
	}
	m.swap()
	defer m.swap()
	return f()
}

// slots are the averages as a checkpoint has them.
func (m *averages) slots() []optimizer.Slot {
	if m == nil {
		return nil
	}
	var s []optimizer.Slot
	for i, v := range m.vars {
		s = append(s, optimizer.Slot{Name: v.Name + trained.AverageSuffix, Shape: v.Shape, Value: m.values[i], ByRows: v.ByRows})
	}
	return s
}

// slots are all that is of a variable's shape and not the variable: the optimizer's,
// and the averages.
func (h *trainerState) slots() []optimizer.Slot {
	return append(h.optimizer.Slots(), h.averages.slots()...)
}
