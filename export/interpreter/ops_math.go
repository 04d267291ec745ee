package interpreter

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"ringtrain/export/tfpb"
	"ringtrain/model/kernel"
)

// The types that operations take.
var (
	float32s = []tfpb.DataType{tfpb.DataType_DT_FLOAT}
	floats   = append(float32s, tfpb.DataType_DT_DOUBLE)
	integers = []tfpb.DataType{tfpb.DataType_DT_INT32, tfpb.DataType_DT_INT64}
	numbers  = slices.Concat(floats, integers)
	texts    = []tfpb.DataType{tfpb.DataType_DT_STRING}
	truths   = []tfpb.DataType{tfpb.DataType_DT_BOOL}
)

// number is the type of a value that operations compute with.
type number interface {
	float32 | float64 | int32 | int64
}

// mathOps returns the operations of this file: those that compute element by element.
func mathOps() []op {
	ops := []op{
		{name: "LeakyRelu", kinds: "T", types: float32s, shape: likeInput(0), run: func(c *call) {
			c.engine().LeakyReLU(c.out[0].Float32, c.in[0].Float32, c.node.float("alpha", 0.2))
		}},
		{name: "Cast", kinds: "T", types: slices.Concat(numbers, truths), bind: bindCast, run: cast},
		{name: "SelectV2", kinds: "bTT", run: func(c *call) {
			w := c.broadcast(c.in[1].Type)
			c.out[0].lane().pick(w, c.out[0], c.in[0], c.in[1], c.in[2])
		}},
	}
	for _, f := range functions() {
		ops = append(ops, op{name: f.name, kinds: "T", types: floats, shape: likeInput(0), run: f.run})
	}
	for _, a := range arithmetics() {
		ops = append(ops, op{name: a.name, kinds: "TT", types: a.types, attrs: a.attrs, run: a.run})
	}
	for _, r := range relations() {
		ops = append(ops, op{name: r.name, kinds: r.kinds, types: slices.Concat(numbers, texts), run: r.run})
	}
	return ops
}

// function is a function of one number, computed in float64 and rounded.
type function struct {
	name string
	f    func(x float64) float64
	fast func(e *kernel.Engine, y, x []float32) // the kernel for float32; nil: f
}

func functions() []function {
	return []function{
		{name: "Abs", f: math.Abs},
		{name: "Elu", f: func(x float64) float64 {
			if x < 0 {
				return math.Expm1(x)
			}
			return x
		}},
		{name: "Erf", f: math.Erf},
		{name: "Erfc", f: math.Erfc},
		{name: "Expm1", f: math.Expm1},
		{name: "Floor", f: math.Floor},
		{name: "Log1p", f: math.Log1p},
		{name: "Neg", f: func(x float64) float64 { return -x }},
		{name: "Relu", f: func(x float64) float64 { return max(x, 0) }, fast: (*kernel.Engine).ReLU},
		{name: "Relu6", f: func(x float64) float64 {
			if x < 0 {
				return 0
			}
			return min(x, 6)
		}},
		{name: "Rsqrt", f: func(x float64) float64 { return 1 / math.Sqrt(x) }},
		{name: "Sigmoid", f: func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, fast: (*kernel.Engine).Sigmoid},
		{name: "Sign", f: func(x float64) float64 {
			switch {
			case x < 0:
				return -1
			case x > 0:
				return 1
			}
			return x + 0 // NaN stays, and -0 becomes 0
		}},
		{name: "Sqrt", f: math.Sqrt},
		{name: "Square", f: func(x float64) float64 { return x * x }, fast: func(e *kernel.Engine, y, x []float32) { e.Multiply(y, x, x, false) }},
		{name: "Tanh", f: math.Tanh, fast: (*kernel.Engine).Tanh},
	}
}

func (f *function) run(c *call) {
	x, y := c.in[0], c.out[0]
	if f.fast != nil {
		f.fast(c.engine(), y.Float32, x.Float32)
	} else {
		each(y.Float32, x.Float32, func(v float32) float32 { return float32(f.f(float64(v))) })
	}
	each(y.Float64, x.Float64, f.f)
}

// arithmetic is a function of two numbers. Floats are computed in float64 and rounded, integers in int64.
type arithmetic struct {
	name  string
	types []tfpb.DataType
	attrs string
	f     func(x, y float64) float64
	i     func(x, y int64) int64
	fast  func(e *kernel.Engine, dst, x, y []float32) // the kernel for rows of float32; nil: f
}

func arithmetics() []arithmetic {
	add := arithmetic{name: "Add", types: numbers, fast: (*kernel.Engine).Sum,
		f: func(x, y float64) float64 { return x + y }, i: func(x, y int64) int64 { return x + y }}
	add2, bias := add, add
	add2.name, bias.name, bias.attrs = "AddV2", biasAdd, "data_format=NHWC"
	return []arithmetic{
		add, add2, bias,
		{name: "DivNoNan", types: floats, f: func(x, y float64) float64 {
			if y == 0 {
				return 0
			}
			return x / y
		}},
		{name: "FloorDiv", types: integers, i: floorDiv},
		{name: "FloorMod", types: integers, i: func(x, y int64) int64 { return x - floorDiv(x, y)*y }},
		{name: "Maximum", types: numbers, f: func(x, y float64) float64 { return max(x, y) }, i: func(x, y int64) int64 { return max(x, y) }},
		{name: "Mul", types: numbers, f: func(x, y float64) float64 { return x * y }, i: func(x, y int64) int64 { return x * y },
			fast: func(e *kernel.Engine, dst, x, y []float32) { e.Multiply(dst, x, y, false) }},
		{name: "RealDiv", types: floats, f: func(x, y float64) float64 { return x / y }},
		{name: "SquaredDifference", types: floats, f: func(x, y float64) float64 { return (x - y) * (x - y) }},
		{name: "Sub", types: numbers, f: func(x, y float64) float64 { return x - y }, i: func(x, y int64) int64 { return x - y },
			fast: func(e *kernel.Engine, dst, x, y []float32) {
				copy(dst, x)
				e.Axpy(dst, y, -1)
			}},
	}
}

// biasAdd is Add of a vector to the last dimension.
const biasAdd = "BiasAdd"

// floorDiv rounds the quotient down, where Go rounds to 0.
func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y != 0 && (x < 0) != (y < 0) {
		q--
	}
	return q
}

func (a *arithmetic) run(c *call) {
	x, y, out := c.in[0], c.in[1], c.out[0]
	isBias := len(x.Shape) > 1 && len(y.Shape) == 1 && x.Shape[len(x.Shape)-1] == y.Shape[0]
	c.want(a.name != biasAdd || isBias, "a bias for the last dimension")
	w := c.broadcast(x.Type)
	if a.f == nil && out.length() > 0 && (slices.Contains(y.Int32, 0) || slices.Contains(y.Int64, 0)) {
		refuse("an integer is divided by 0")
	}
	a.float32s(c.engine(), w, out.Float32, x.Float32, y.Float32)
	zip(w, out.Float64, x.Float64, y.Float64, a.f)
	zip(w, out.Int32, x.Int32, y.Int32, func(x, y int32) int32 { return int32(a.i(int64(x), int64(y))) })
	zip(w, out.Int64, x.Int64, y.Int64, a.i)
}

// float32s computes rows by the kernel if both operands have all of their values there. A product of a row with one
// number has a loop of its own.
func (a *arithmetic) float32s(e *kernel.Engine, w *walk, dst, x, y []float32) {
	if len(dst) == 0 {
		return
	}
	by := w.inner()
	if a.fast == nil || by[1] != 1 || by[2] != 1 && (by[2] != 0 || a.name != "Mul") {
		zip(w, dst, x, y, func(x, y float32) float32 { return float32(a.f(float64(x), float64(y))) })
		return
	}
	for w.next() {
		values := x[w.at[1]:][:w.n]
		out := dst[w.at[0]:][:len(values)]
		if w.by[2] == 1 {
			a.fast(e, out, values, y[w.at[2]:][:w.n])
			continue
		}
		factor := y[w.at[2]]
		for k, v := range values {
			out[k] = v * factor
		}
	}
}

// zip writes f of the elements of x and y to dst.
func zip[T, S any](w *walk, dst []T, x, y []S, f func(x, y S) T) {
	for len(x) > 0 && w.next() {
		i, j := w.at[1], w.at[2]
		row := dst[w.at[0]:][:w.n]
		for k := range row {
			row[k] = f(x[i], y[j])
			i, j = i+w.by[1], j+w.by[2]
		}
	}
}

// Results of a comparison, as bits.
const (
	less = 1 << iota
	equal
	greater
	unordered
)

// relation is true for some results of the comparison of two values, or of one with itself, or for some truths.
type relation struct {
	name, kinds string
	results     int
	truths      func(x, y bool) bool
}

func relations() []relation {
	return []relation{
		{"Equal", "TT", equal, nil},
		{"NotEqual", "TT", less | greater | unordered, nil},
		{"Less", "TT", less, nil},
		{"LessEqual", "TT", less | equal, nil},
		{"GreaterEqual", "TT", greater | equal, nil},
		{"IsNan", "T", unordered, nil},
		{"LogicalAnd", "bb", 0, func(x, y bool) bool { return x && y }},
		{"LogicalOr", "bb", 0, func(x, y bool) bool { return x || y }},
		{"LogicalNot", "b", 0, func(x, _ bool) bool { return !x }},
	}
}

func (r *relation) run(c *call) {
	x, y, w := c.in[0], c.in[len(c.in)-1], c.broadcast(tfpb.DataType_DT_BOOL)
	dst := c.out[0].Bool
	zip(w, dst, x.Float32, y.Float32, func(x, y float32) bool { return order(normal(x), normal(y))&r.results != 0 })
	zip(w, dst, x.Float64, y.Float64, func(x, y float64) bool { return order(x, y)&r.results != 0 })
	zip(w, dst, x.Int32, y.Int32, func(x, y int32) bool { return order(x, y)&r.results != 0 })
	zip(w, dst, x.Int64, y.Int64, func(x, y int64) bool { return order(x, y)&r.results != 0 })
	zip(w, dst, x.Bytes, y.Bytes, func(x, y []byte) bool { return order(bytes.Compare(x, y), 0)&r.results != 0 })
	zip(w, dst, x.Bool, y.Bool, r.truths)
}

func order[T cmp.Ordered](x, y T) int {
	switch {
	case x < y:
		return less
	case x == y:
		return equal
	case x > y:
		return greater
	}
	return unordered
}

func bindCast(n *node) any {
	t := n.typ("DstT")
	if !slices.Contains(numbers, t) {
		refuse("attribute DstT is no type of numbers")
	}
	return t
}

func cast(c *call) {
	x := c.in[0]
	c.make(0, c.node.bound.(tfpb.DataType), x.Shape...)
	castTo(c.out[0].Float32, x, math.Inf(-1), math.Inf(1))
	castTo(c.out[0].Float64, x, math.Inf(-1), math.Inf(1))
	castTo(c.out[0].Int32, x, math.MinInt32, math.MaxInt32+1)
	castTo(c.out[0].Int64, x, math.MinInt64, math.MaxInt64)
}

// castTo converts the values of x. A float that is not between least and top, which are those of an
// integer, becomes least, as on TensorFlow's CPU.
func castTo[T number](dst []T, x *Tensor, least, top float64) {
	if len(dst) == 0 {
		return
	}
	round := func(v float64) T {
		if math.IsInf(top, 1) || v >= least && v < top {
			return T(v)
		}
		return T(least)
	}
	each(dst, x.Float32, func(v float32) T { return round(float64(v)) })
	each(dst, x.Float64, round)
	each(dst, x.Int32, func(v int32) T { return T(v) })
	each(dst, x.Int64, func(v int64) T { return T(v) })
	each(dst, x.Bool, func(v bool) T {
		if v {
			return 1
		}
		return 0
	})
}

// each writes f of each value of x to dst.
func each[T, S any](dst []T, x []S, f func(v S) T) {
	for i, v := range x {
		dst[i] = f(v)
	}
}
