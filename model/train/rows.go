package train

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"ringtrain/model/kernel"
	"ringtrain/model/optimizer"
	"ringtrain/model/tensor"
	"ringtrain/ring/exitcode"
)

// The gradient of the variables by rows has one row for each distinct id of a batch, in memory that
// the ring sums:
//
//	ids      3        8        41
//	rows   │ w │ v  │ w │ v  │ w │ v  │      tables w and v over the same ids
//
// The work of a step does not grow with the size of a table. Backward adds to these rows, and the sum
// has the rows of all ranks. The optimizer, the penalties and the averages visit only the sum.

// placeRows allocates the gradients of the rows in this rank's share.
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

// takeRows returns the sum of the rows of all ranks, which it keeps in l.rows. It returns nil for a
// model without variables by rows.
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

// mixDigest adds the digest of the rows of one step to the running digest of all steps. The
// multiplication makes the result depend on the order of steps.
func mixDigest(before, rows uint64) uint64 {
	return bits.RotateLeft64(before, 23)*0x9e3779b97f4a7c15 + rows
}

// lastRows holds the rows that the last step summed, and the parameters of its update. A process keeps
// them for the next generation, in case a rank has not made that step.
type lastRows struct {
	rowsHead
	step   int64 // of the rows, counted from 1; 0: none
	ids    []uint32
	values []float32
}

// rowsHead precedes the rows in a transfer of state.
type rowsHead struct {
	rows   int64
	rate   float32 // of the update
	adjust kernel.Adjust
}

const rowsHeadBytes = 8 + 5*4

// encode returns rows as int64, then the rate and the adjustment as float32, little-endian.
func (h rowsHead) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(h.rows))
	for _, v := range []float32{h.rate, h.adjust.L1, h.adjust.L2, h.adjust.Bound, h.adjust.Factor} {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func decodeRowsHead(b []byte) rowsHead {
	at := func(i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b[8+4*i:])) }
	return rowsHead{int64(binary.LittleEndian.Uint64(b)), at(0), kernel.Adjust{L1: at(1), L2: at(2), Bound: at(3), Factor: at(4)}}
}

// keepRows copies the rows of the last step of l, because their memory is released with the group. If
// this generation made no step, the rows of the generation before stay.
func (r *replica) keepRows(l *Loop) {
	if l.Reducer.RowSum() == nil || l.summed == 0 || l.summed != l.Step {
		return
	}
	k := &r.lastRows
	k.ids, k.values = k.ids[:0], k.values[:0]
	for _, p := range l.rows.Pieces {
		k.ids, k.values = append(k.ids, p.IDs...), append(k.values, p.Values...)
	}
	k.step, k.rowsHead = l.Step, rowsHead{int64(len(k.ids)), l.rate, l.rows.Adjust}
}

// segments returns the ids and values as bytes.
func (l *lastRows) segments() [][]byte {
	if len(l.ids) == 0 {
		return nil
	}
	ids := unsafe.Slice((*byte)(unsafe.Pointer(&l.ids[0])), 4*len(l.ids))
	return [][]byte{ids, bytesOf(l.values)}
}

// allocateRows allocates the rows that the donor is about to send.
func (t *transfer) allocateRows(donor int, h rowsHead) (lastRows, error) {
	width, most := t.rowWidth, t.replica.tableRows()
	if width == 0 || h.rows < 0 || h.rows > int64(most) {
		return lastRows{}, exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent %d rows of %d elements, want at most %d", donor, h.rows, width, most))
	}
	return lastRows{rowsHead: h, ids: make([]uint32, h.rows), values: make([]float32, int(h.rows)*width)}, nil
}

// catchUp makes the step whose rows the donor sent, for the tables with their slots and averages. It
// leaves other variables in an undefined state; the caller overwrites them.
func (t *transfer) catchUp(donor int, k lastRows) error {
	p, most := t.replica, t.replica.tableRows()
	for i, id := range k.ids {
		if i > 0 && id <= k.ids[i-1] || int(id) >= most {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent row %d as number %d, want ascending rows below %d", donor, id, i, most))
		}
	}
	g := &optimizer.RowGrad{
		Pieces: []tensor.Rows{{IDs: k.ids, Values: k.values, Width: t.rowWidth}},
		Adjust: k.adjust, Mix: t.compares,
	}
	p.optimizer.Apply(k.rate, g)
	if g.Mix {
		p.progress.mix = mixDigest(p.progress.mix, g.Mixed)
	}
	if p.averages != nil {
		p.averages.update(g)
	}
	k.step = p.progress.step + 1
	p.lastRows = k
	return nil
}
