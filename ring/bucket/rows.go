package bucket

import (
	"context"
	"slices"

	"ringtrain/ring"
	"ringtrain/ring/internal/vec"
)

// rows holds the gradients of the variables by rows. They form one table, since all have rows
// of the same ids. A row of the table has the rows of the variables side by side, in forward
// order.
type rows struct {
	sum     *ring.RowSum
	columns []columns
	width   int

	mine []float32 // of this step
}

// columns is the place of one variable in a row.
type columns struct{ variable, offset, width int }

// newRows returns the sum of the variables by rows, or nil if there is none.
func newRows(ctx context.Context, g collective, vars []Variable) (*rows, error) {
	r, table := &rows{}, ring.Table{}
	for i, v := range vars {
		if v.ByRows {
			r.columns = append(r.columns, columns{i, table.Width, v.Cols})
			table.Rows, table.Width = uint32(v.Rows), table.Width+v.Cols
		}
	}
	if r.width = table.Width; r.width == 0 {
		return nil, nil
	}
	var err error
	r.sum, err = g.NewRowSum(ctx, []ring.Table{table})
	return r, err
}

// Rows starts the gradients of variables by rows in this step, after Begin and before the first
// Ready. It returns zeros: RowWidth elements for each id, in the order of ids, which ascend.
// Backward adds to them; variable i has the elements from RowOffset(i) on. After the last Ready
// they belong to the reducer.
func (r *Reducer) Rows(ids []uint32) []float32 {
	if !r.inStep || r.started {
		panic("bucket: Rows outside of Begin and the first Ready")
	}
	own, values := r.rows.sum.Input(0, len(ids))
	copy(own, ids)
	clear(values)
	r.rows.mine = values
	return values
}

// RowWidth returns the number of elements of a row of all variables by rows, 0 if there is none.
func (r *Reducer) RowWidth() int {
	if r.rows == nil {
		return 0
	}
	return r.rows.width
}

// RowOffset returns where in a row variable i, which is by rows, begins.
func (r *Reducer) RowOffset(i int) int {
	at := slices.IndexFunc(r.rows.columns, func(c columns) bool { return c.variable == i })
	return r.rows.columns[at].offset
}

// RowSum returns the sum of the variables by rows: its table 0 has the result of the last step.
// It is nil if there is no such variable.
func (r *Reducer) RowSum() *ring.RowSum {
	if r.rows == nil {
		return nil
	}
	return r.rows.sum
}

// bad returns 1 + the lowest variable with a row of this rank that is not finite, or 0.
func (r *rows) bad() int32 {
	if r.sum.Finite(0) {
		return 0
	}
	return r.firstNonFinite(r.mine)
}

// overflow returns 1 + the lowest variable with a sum that is not finite, or 0.
func (r *rows) overflow() int32 {
	if r.sum.NonFinite() == 0 {
		return 0
	}
	var first int32
	for piece := range r.sum.Pieces() {
		_, values := r.sum.Result(0, piece)
		first = lowest(first, r.firstNonFinite(values))
	}
	return first
}

func (r *rows) firstNonFinite(values []float32) int32 {
	var first int32
	for ; len(values) > 0; values = values[r.width:] {
		for _, c := range r.columns {
			if !vec.Finite(values[c.offset : c.offset+c.width]) {
				first = lowest(first, int32(c.variable)+1)
			}
		}
	}
	return first
}
