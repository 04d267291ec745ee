package train

import (
	"math/bits"

	"ringtrain/model/internal/kernel"
	"ringtrain/model/optimizer"
	"ringtrain/model/tensor"
)

// The gradient of the variables by rows has a row for each distinct id of a batch, in memory
// that the ring sums:
//
//	ids      3        8        41
//	rows   │ w │ v  │ w │ v  │ w │ v  │      tables w and v over the same ids
//
// Nothing in a step is proportional to a table: backward adds to these rows, the sum has those
// of all ranks, and the optimizer, the penalties and the averages go through it alone.

// placeRows makes room for the gradients of the rows that this rank's share touches.
func (l *Loop) placeRows(ids []uint32) {
	width := l.Reducer.RowWidth()
	if width == 0 {
		return
	}
	values := l.Reducer.Rows(ids)
	for i, v := range l.Model.Variables() {
		if v.ByRows {
			v.RowGrad, v.RowStride = values[min(l.Reducer.RowOffset(i), len(values)):], width
		}
	}
}

// takeRows makes l.rows the sum of the rows of all ranks, which stays as it is. It returns nil
// for a model without variables by rows.
func (l *Loop) takeRows() *optimizer.RowGrad {
	sum := l.Reducer.RowSum()
	if sum == nil {
		return nil
	}
	g := &l.rows
	g.Pieces, g.Adjust = g.Pieces[:0], kernel.Adjust{}
	for piece := range sum.Pieces() {
		ids, values := sum.Result(0, piece)
		g.Pieces = append(g.Pieces, tensor.Rows{IDs: ids, Values: values, Width: l.Reducer.RowWidth()})
	}
	g.Mix, g.Mixed = l.CheckEvery > 0, 0
	return g
}

// mixed is the running digest of the rows that all steps have touched, after a step that mixed
// the rows that it touched. The multiplication makes the order of steps count.
func mixed(before, rows uint64) uint64 {
	return bits.RotateLeft64(before, 23)*0x9e3779b97f4a7c15 + rows
}
