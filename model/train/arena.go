package train

import (
	"ringtrain/model"
	"ringtrain/ring/bucket"
)

// bindGrads places the gradients of vars in the buckets that the ring reads, again
// where the reducer moves them. Those of variables by rows are placed in each step.
func bindGrads(vars []*model.Variable, reducer *bucket.Reducer) {
	for i, v := range vars {
		v.Grad = reducer.Grad(i)
	}
}

// unbindGrads takes the gradients of vars away, before their memory goes with the
// group.
func unbindGrads(vars []*model.Variable) {
	for _, v := range vars {
		v.Grad, v.RowGrad, v.RowStride = nil, nil, 0
	}
}
