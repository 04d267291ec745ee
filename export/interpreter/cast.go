package interpreter

import (
	"fmt"
	"math"
	"slices"

	"ringtrain/export/tfpb"
)

// castable are the types between which Cast converts.
var castable = append(numbers[:len(numbers):len(numbers)], tfpb.DataType_DT_BOOL)

func bindCast(n *node) (any, error) {
	for _, name := range []string{"SrcT", "DstT"} {
		if t := n.typ(name); !slices.Contains(castable, t) {
			return nil, fmt.Errorf("attribute %s is %v, want one of %v", name, t, castable)
		}
	}
	return n.typ("DstT"), nil
}

func shapeCast(c *call) error {
	if !slices.Contains(castable, c.in[0].Type) {
		return fmt.Errorf("input 0 is %v, want one of %v", c.in[0].Type, castable)
	}
	return c.make(0, c.bound.(tfpb.DataType), c.in[0].Shape...)
}

func cast(c *call) error {
	x, y := c.in[0], c.out[0]
	switch y.Type {
	case tfpb.DataType_DT_FLOAT:
		castTo(y.Float32, x)
	case tfpb.DataType_DT_DOUBLE:
		castTo(y.Float64, x)
	case tfpb.DataType_DT_INT32:
		castTo(y.Int32, x)
	case tfpb.DataType_DT_INT64:
		castTo(y.Int64, x)
	default:
		truth(y.Bool, x.Float32)
		truth(y.Bool, x.Float64)
		truth(y.Bool, x.Int32)
		truth(y.Bool, x.Int64)
		copy(y.Bool, x.Bool)
	}
	return nil
}

// castTo converts the values of x, of any type, to T.
func castTo[T number](dst []T, x *Tensor) {
	convert(dst, x.Int32)
	convert(dst, x.Int64)
	round(dst, x.Float32)
	round(dst, x.Float64)
	for i, v := range x.Bool {
		dst[i] = 0
		if v {
			dst[i] = 1
		}
	}
}

func convert[T number, S int32 | int64](dst []T, src []S) {
	for i, v := range src {
		dst[i] = T(v)
	}
}

// round converts numbers. One that is beyond the range of an integer, or NaN, becomes the least integer,
// as on TensorFlow's CPU.
func round[T number, S float32 | float64](dst []T, src []S) {
	least, top := float64(math.Inf(-1)), math.Inf(1)
	switch any(dst).(type) {
	case []int32:
		least, top = math.MinInt32, math.MaxInt32+1
	case []int64:
		least, top = math.MinInt64, math.MaxInt64
	}
	for i, v := range src {
		if x := float64(v); x > least && x < top || math.IsInf(top, 1) {
			dst[i] = T(v)
		} else {
			dst[i] = T(least)
		}
	}
}

func truth[S number](dst []bool, src []S) {
	for i, v := range src {
		dst[i] = v != 0
	}
}
