package train

import (
	"ringtrain/model"
	"ringtrain/model/internal/pages"
	"ringtrain/model/job"
	"ringtrain/model/kernel"
	"ringtrain/model/optimizer"
	"ringtrain/model/train/trained"
)

// averages holds the moving averages of all variables; nil if the job keeps none.
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

// reset sets the averages to the current values of the variables.
func (av *averages) reset() {
	if av == nil {
		return
	}
	for i, v := range av.vars {
		copy(av.values[i], v.Value)
	}
}

// update moves the averages towards the variables after an update. g holds the rows of the update.
func (av *averages) update(g *optimizer.RowGrad) {
	e := av.engine()
	for i, v := range av.vars {
		if v.ByRows {
			av.updateRows(av.values[i], v, g)
		} else {
			e.Average(av.values[i], v.Value, av.rate)
		}
	}
}

// updateRows moves the average of the rows of g.
func (av *averages) updateRows(average []float32, v *model.Variable, g *optimizer.RowGrad) {
	w := v.RowLen()
	for _, p := range g.Pieces {
		for _, id := range p.IDs {
			a, x := average[int(id)*w:][:w], v.Value[int(id)*w:][:w]
			for j := range a {
				a[j] -= float32((a[j] - x[j]) * av.rate)
			}
		}
	}
}

// swap exchanges the values of the averages and the variables.
func (av *averages) swap() {
	for i, v := range av.vars {
		a := av.values[i]
		for j, x := range v.Value {
			v.Value[j], a[j] = a[j], x
		}
	}
}

// with calls f. If use is true, the variables have the values of the averages during the call.
func (av *averages) with(use bool, f func() error) error {
	if av == nil || !use {
		return f()
	}
	av.swap()
	defer av.swap()
	return f()
}

// slots returns the averages as tensors of a checkpoint.
func (av *averages) slots() []optimizer.Slot {
	if av == nil {
		return nil
	}
	var s []optimizer.Slot
	for i, v := range av.vars {
		s = append(s, optimizer.Slot{Name: v.Name + trained.AverageSuffix, Shape: v.Shape, Value: av.values[i], ByRows: v.ByRows})
	}
	return s
}
