package train

import (
	"ringtrain/model"
	"ringtrain/ring/bucket"
)

// place gives the variables their memory: values lie in one flat arena,
// gradients in the buckets that the ring reads.
func place(vars []*model.Variable, reducer *bucket.Reducer) {
	bindValues(vars)
	bindGrads(vars, reducer)
}

// bindGrads places the gradients of vars, again where the reducer moves them.
func bindGrads(vars []*model.Variable, reducer *bucket.Reducer) {
	for i, v := range vars {
		v.Grad = reducer.Grad(i)
	}
}

// bindValues places the values of vars in one new arena.
func bindValues(vars []*model.Variable) {
	n := 0
	for _, v := range vars {
		n += v.Len()
	}
	arena := make([]float32, n)
	for _, v := range vars {
		v.Value, arena = arena[:v.Len():v.Len()], arena[v.Len():]
	}
}
