package proof

import (
	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/input"
)

// rows are the records [first, last) of a batch, whose bags are indexed, as tensors.
type rows struct {
	batch       *input.Batch
	first, last int
}

// numbers returns the dense features.
func (r *rows) numbers() *interpreter.Tensor {
	x := &r.batch.X.Dense
	return &interpreter.Tensor{
		Type: tfpb.DataType_DT_FLOAT, Shape: []int{r.last - r.first, x.Cols}, Float32: x.Data[r.first*x.Cols : r.last*x.Cols],
	}
}

// eachPair calls visit with the place of each pair of id and value, and with its row, field and place in its row.
func (r *rows) eachPair(visit func(pair, row, field, place int)) {
	bags := &r.batch.X.Bags
	for row := r.first; row < r.last; row++ {
		place := 0
		for field := range bags.Fields {
			at := row*bags.Fields + field
			for pair := bags.Start[at]; pair < bags.Start[at+1]; pair++ {
				visit(int(pair), row-r.first, field, place)
				place++
			}
		}
	}
}

// whole returns an int64 tensor of what of tells of each pair: width numbers.
func (r *rows) whole(width int, of func(dst []int64, pair, row, field, place int) []int64) *interpreter.Tensor {
	t := &interpreter.Tensor{Type: tfpb.DataType_DT_INT64, Int64: []int64{}}
	r.eachPair(func(pair, row, field, place int) { t.Int64 = of(t.Int64, pair, row, field, place) })
	t.Shape = []int{len(t.Int64) / width}
	if width > 1 {
		t.Shape = append(t.Shape, width)
	}
	return t
}

func (r *rows) indices() *interpreter.Tensor {
	return r.whole(2, func(dst []int64, _, row, _, place int) []int64 { return append(dst, int64(row), int64(place)) })
}

func (r *rows) ids() *interpreter.Tensor {
	bags := &r.batch.X.Bags
	return r.whole(1, func(dst []int64, pair, _, _, _ int) []int64 { return append(dst, int64(bags.IDs[bags.Slot[pair]])) })
}

func (r *rows) fields() *interpreter.Tensor {
	return r.whole(1, func(dst []int64, _, _, field, _ int) []int64 { return append(dst, int64(field)) })
}

func (r *rows) values() *interpreter.Tensor {
	t := &interpreter.Tensor{Type: tfpb.DataType_DT_FLOAT, Float32: []float32{}}
	r.eachPair(func(pair, _, _, _ int) { t.Float32 = append(t.Float32, r.batch.X.Bags.Weights[pair]) })
	t.Shape = []int{len(t.Float32)}
	return t
}

// shape returns the shape of the sparse tensor of ids: records, and pairs of the longest one.
func (r *rows) shape() *interpreter.Tensor {
	longest := 0
	r.eachPair(func(_, _, _, place int) { longest = max(longest, place+1) })
	return &interpreter.Tensor{Type: tfpb.DataType_DT_INT64, Shape: []int{2}, Int64: []int64{int64(r.last - r.first), int64(longest)}}
}

// key returns one of the keys of each record.
func (r *rows) key(at, of int) *interpreter.Tensor {
	t := &interpreter.Tensor{Type: tfpb.DataType_DT_STRING, Shape: []int{r.last - r.first}}
	for row := r.first; row < r.last; row++ {
		t.Bytes = append(t.Bytes, []byte(r.batch.Keys[row*of+at]))
	}
	return t
}
