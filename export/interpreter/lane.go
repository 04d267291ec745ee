package interpreter

import (
	"slices"
	"unsafe"

	"ringtrain/export/tfpb"
)

// lane does with values of one type what is done with those of any type. Tensors that it is given have the same type.
type lane interface {
	size() int // bytes of a value in memory
	length(t *Tensor) int
	resize(t *Tensor, n int)
	append(t, more *Tensor)
	zero(t *Tensor)
	move(dst, src *Tensor, p pieces)
	pick(w *walk, dst, is, x, y *Tensor)
}

// values is the lane of a type, and says where a tensor has its values.
type values[T any] func(t *Tensor) *[]T

var (
	float32Values values[float32]  = func(t *Tensor) *[]float32 { return &t.Float32 }
	float64Values values[float64]  = func(t *Tensor) *[]float64 { return &t.Float64 }
	int32Values   values[int32]    = func(t *Tensor) *[]int32 { return &t.Int32 }
	int64Values   values[int64]    = func(t *Tensor) *[]int64 { return &t.Int64 }
	boolValues    values[bool]     = func(t *Tensor) *[]bool { return &t.Bool }
	textValues    values[[]byte]   = func(t *Tensor) *[][]byte { return &t.Bytes }
	noValues      values[struct{}] = func(t *Tensor) *[]struct{} { return new([]struct{}) }
)

// laneOf returns the lane of a type. A type that is not known here has no values.
func laneOf(t tfpb.DataType) lane {
	switch t {
	case tfpb.DataType_DT_FLOAT:
		return float32Values
	case tfpb.DataType_DT_DOUBLE:
		return float64Values
	case tfpb.DataType_DT_INT32:
		return int32Values
	case tfpb.DataType_DT_INT64:
		return int64Values
	case tfpb.DataType_DT_BOOL:
		return boolValues
	case tfpb.DataType_DT_STRING:
		return textValues
	}
	return noValues
}

func (t *Tensor) lane() lane { return laneOf(t.Type) }

func (v values[T]) size() int {
	var one T
	return max(1, int(unsafe.Sizeof(one)))
}

func (v values[T]) length(t *Tensor) int { return len(*v(t)) }

func (v values[T]) resize(t *Tensor, n int) {
	all := v(t)
	*all = slices.Grow((*all)[:0], n)[:n]
}

func (v values[T]) append(t, more *Tensor) { *v(t) = append(*v(t), *v(more)...) }

func (v values[T]) zero(t *Tensor) { clear(*v(t)) }

// pieces are n pieces of values that are width long: where the first one is in the output and in the source, and the steps
// to the next. Of rows, piece k is the one of the source that rows[k] says.
type pieces struct {
	to, toStep, from, fromStep, n, width int
	rows                                 []int
}

// move copies pieces of src.
func (v values[T]) move(dst, src *Tensor, p pieces) {
	out, in := *v(dst), *v(src)
	if len(in) == 0 || len(out) == 0 {
		return
	}
	if p.rows == nil && p.toStep == p.width && p.fromStep == p.width {
		p.n, p.width = 1, p.n*p.width
	}
	from := p.from
	for k := range p.n {
		if p.rows != nil {
			from = p.from + p.rows[k]*p.fromStep
		}
		if p.width == 1 {
			out[p.to] = in[from]
		} else {
			copy(out[p.to:][:p.width], in[from:])
		}
		p.to, from = p.to+p.toStep, from+p.fromStep
	}
}

// pick takes each element of x or y, as the condition says. The walk passes dst, the condition, x and y.
func (v values[T]) pick(w *walk, dst, is, x, y *Tensor) {
	for w.next() {
		row, yes, no := (*v(dst))[w.at[0]:][:w.n], *v(x), *v(y)
		for k := range row {
			if is.Bool[w.at[1]+k*w.by[1]] {
				row[k] = yes[w.at[2]+k*w.by[2]]
			} else {
				row[k] = no[w.at[3]+k*w.by[3]]
			}
		}
	}
}
