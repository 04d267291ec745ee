package interpreter

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"

	"ringtrain/export/tfpb"
	"ringtrain/model/kernel"
)

// The types that operations take.
var (
	float32s = []tfpb.DataType{tfpb.DataType_DT_FLOAT}
	floats   = []tfpb.DataType{tfpb.DataType_DT_FLOAT, tfpb.DataType_DT_DOUBLE}
	integers = []tfpb.DataType{tfpb.DataType_DT_INT32, tfpb.DataType_DT_INT64}
	numbers  = slices.Concat(floats, integers)
	texts    = append(numbers[:len(numbers):len(numbers)], tfpb.DataType_DT_STRING)
)

// number is the type of a value that operations compute with.
type number interface {
	float32 | float64 | int32 | int64
}

// mathOps returns the operations of this file: those that compute element by element.
func mathOps() []op {
	ops := []op{
		{name: "IsNan", kinds: "T", types: floats, shape: likeInput(tfpb.DataType_DT_BOOL), run: isNaN},
		{name: "LogicalNot", kinds: "b", shape: likeInput(0), run: not},
		{name: "LeakyRelu", kinds: "T", types: float32s, bind: bindAlpha, shape: likeInput(0), run: leakyReLU},
		{name: "Cast", kinds: "x", bind: bindCast, shape: shapeCast, run: cast},
		{name: "SelectV2", kinds: "bTT", shape: func(c *call) error { return c.broadcast(c.in[1].Type) }, run: choose},
	}
	for _, f := range functions() {
		ops = append(ops, op{name: f.name, kinds: "T", types: typesOf(true, f.i != nil), shape: likeInput(0), run: f.run})
	}
	for _, a := range arithmetics() {
		ops = append(ops, op{name: a.name, kinds: "TT", types: typesOf(a.f != nil, a.i != nil), shape: a.shape, run: a.run})
	}
	for _, r := range relations() {
		kinds, types := "TT", texts
		if r.ordered == 0 {
			kinds, types = "bb", nil
		}
		ops = append(ops, op{name: r.name, kinds: kinds, types: types, shape: toBool, run: r.run})
	}
	return ops
}

// typesOf returns the types of operations on floats, integers or both.
func typesOf(ofFloats, ofIntegers bool) []tfpb.DataType {
	switch {
	case !ofFloats:
		return integers
	case !ofIntegers:
		return floats
	}
	return numbers
}

// likeInput returns the rule for an output of the shape of input 0, of a type or, with 0, of its type.
func likeInput(t tfpb.DataType) func(c *call) error {
	return func(c *call) error {
		if t == 0 {
			return c.make(0, c.in[0].Type, c.in[0].Shape...)
		}
		return c.make(0, t, c.in[0].Shape...)
	}
}

// function is a function of one number. Doubles and float32s compute in float64, and the result is
// rounded; integers compute in int64.
type function struct {
	name string
	f    func(x float64) float64
	i    func(x int64) int64                    // nil: the operation takes no integers
	fast func(e *kernel.Engine, y, x []float32) // the kernel for float32; nil: f
}

func functions() []function {
	return []function{
		{name: "Abs", f: math.Abs, i: func(x int64) int64 { return max(x, -x) }},
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
		{name: "Neg", f: func(x float64) float64 { return -x }, i: func(x int64) int64 { return -x }},
		{name: "Relu", f: func(x float64) float64 { return max(x, 0) }, i: func(x int64) int64 { return max(x, 0) }, fast: (*kernel.Engine).ReLU},
		{name: "Relu6", f: func(x float64) float64 { return min(max(x, 0), 6) }},
		{name: "Rsqrt", f: func(x float64) float64 { return 1 / math.Sqrt(x) }},
		{name: "Sigmoid", f: func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, fast: (*kernel.Engine).Sigmoid},
		{name: "Sign", f: sign, i: func(x int64) int64 { return int64(cmp.Compare(x, 0)) }},
		{name: "Sqrt", f: math.Sqrt},
		{name: "Square", f: func(x float64) float64 { return x * x }, i: func(x int64) int64 { return x * x },
			fast: func(e *kernel.Engine, y, x []float32) { e.Multiply(y, x, x, false) }},
		{name: "Tanh", f: math.Tanh, fast: (*kernel.Engine).Tanh},
	}
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x // 0 and NaN
}

func (f *function) run(c *call) error {
	x, y := c.in[0], c.out[0]
	switch {
	case x.Type == tfpb.DataType_DT_FLOAT && f.fast != nil:
		f.fast(c.engine(), y.Float32, x.Float32)
	case x.Type == tfpb.DataType_DT_FLOAT:
		apply(y.Float32, x.Float32, f.f)
	case x.Type == tfpb.DataType_DT_DOUBLE:
		apply(y.Float64, x.Float64, f.f)
	case x.Type == tfpb.DataType_DT_INT32:
		apply(y.Int32, x.Int32, f.i)
	default:
		apply(y.Int64, x.Int64, f.i)
	}
	return nil
}

// apply writes f of each element of x to y.
func apply[T, W number](y, x []T, f func(W) W) {
	for i, v := range x {
		y[i] = T(f(W(v)))
	}
}

// arithmetic is a function of two numbers, computed as a function is.
type arithmetic struct {
	name    string
	f       func(x, y float64) float64                  // nil: the operation takes no floats
	i       func(x, y int64) int64                      // nil: the operation takes no integers
	fast    func(e *kernel.Engine, dst, x, y []float32) // the kernel for rows of float32; nil: f
	divides bool                                        // an integer 0 as y is an error
	biases  bool                                        // y is a vector for the last dimension of x
}

func arithmetics() []arithmetic {
	add := arithmetic{
		f: func(x, y float64) float64 { return x + y }, i: func(x, y int64) int64 { return x + y },
		fast: (*kernel.Engine).Sum,
	}
	add2, bias := add, add
	add.name, add2.name, bias.name, bias.biases = "Add", "AddV2", "BiasAdd", true
	return []arithmetic{
		add, add2, bias,
		{name: "DivNoNan", f: func(x, y float64) float64 {
			if y == 0 {
				return 0
			}
			return x / y
		}},
		{name: "FloorDiv", i: floorDiv, divides: true},
		{name: "FloorMod", i: func(x, y int64) int64 { return x - floorDiv(x, y)*y }, divides: true},
		{name: "Maximum", f: func(x, y float64) float64 { return max(x, y) }, i: func(x, y int64) int64 { return max(x, y) }},
		{name: "Minimum", f: func(x, y float64) float64 { return min(x, y) }, i: func(x, y int64) int64 { return min(x, y) }},
		{name: "Mul", f: func(x, y float64) float64 { return x * y }, i: func(x, y int64) int64 { return x * y },
			fast: func(e *kernel.Engine, dst, x, y []float32) { e.Multiply(dst, x, y, false) }},
		{name: "RealDiv", f: func(x, y float64) float64 { return x / y }},
		{name: "SquaredDifference", f: func(x, y float64) float64 { return (x - y) * (x - y) }, i: func(x, y int64) int64 { return (x - y) * (x - y) }},
		{name: "Sub", f: func(x, y float64) float64 { return x - y }, i: func(x, y int64) int64 { return x - y }, fast: subtract},
	}
}

func subtract(e *kernel.Engine, dst, x, y []float32) {
	copy(dst, x)
	e.Axpy(dst, y, -1)
}

// floorDiv rounds the quotient down, where Go rounds to 0.
func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y != 0 && (x < 0) != (y < 0) {
		q--
	}
	return q
}

func (a *arithmetic) shape(c *call) error {
	if x, y := c.in[0].Shape, c.in[1].Shape; a.biases && (len(x) < 2 || len(y) != 1 || x[len(x)-1] != y[0]) {
		return errors.New("the bias does not fit the last dimension: " + shapes(c.in))
	}
	return c.broadcast(c.in[0].Type)
}

func (a *arithmetic) run(c *call) error {
	x, y, out := c.in[0], c.in[1], c.out[0]
	if a.divides && (slices.Contains(y.Int32, 0) || slices.Contains(y.Int64, 0)) {
		return errors.New("an integer is divided by 0")
	}
	var w walk
	w.spread(out, c.in)
	switch out.Type {
	case tfpb.DataType_DT_FLOAT:
		a.float32s(c.engine(), &w, out.Float32, x.Float32, y.Float32)
	case tfpb.DataType_DT_DOUBLE:
		combine(&w, out.Float64, x.Float64, y.Float64, a.f)
	case tfpb.DataType_DT_INT32:
		combine(&w, out.Int32, x.Int32, y.Int32, a.i)
	case tfpb.DataType_DT_INT64:
		combine(&w, out.Int64, x.Int64, y.Int64, a.i)
	}
	return nil
}

// float32s computes rows by the kernel if both operands have all their values there.
func (a *arithmetic) float32s(e *kernel.Engine, w *walk, dst, x, y []float32) {
	v := *w
	if !v.next() || a.fast == nil || v.by[1] != 1 || v.by[2] != 1 {
		combine(w, dst, x, y, a.f)
		return
	}
	for w.next() {
		a.fast(e, dst[w.at[0]:][:w.n], x[w.at[1]:][:w.n], y[w.at[2]:][:w.n])
	}
}

// combine writes f of the elements of x and y to dst.
func combine[T, W number](w *walk, dst, x, y []T, f func(x, y W) W) {
	for w.next() {
		i, j := w.at[1], w.at[2]
		for k := range dst[w.at[0]:][:w.n] {
			dst[w.at[0]+k] = T(f(W(x[i]), W(y[j])))
			i, j = i+w.by[1], j+w.by[2]
		}
	}
}

// Results of a comparison, as bits. Those of two truths are 1 << (2x + y).
const (
	less = 1 << iota
	equal
	greater
	unordered
)

// relation is true for some results of the comparison of two values.
type relation struct {
	name           string
	ordered, truth int
}

func relations() []relation {
	return []relation{
		{name: "Equal", ordered: equal},
		{name: "NotEqual", ordered: less | greater | unordered},
		{name: "Less", ordered: less},
		{name: "LessEqual", ordered: less | equal},
		{name: "Greater", ordered: greater},
		{name: "GreaterEqual", ordered: greater | equal},
		{name: "LogicalAnd", truth: 1 << 3},
		{name: "LogicalOr", truth: 1<<1 | 1<<2 | 1<<3},
	}
}

func toBool(c *call) error { return c.broadcast(tfpb.DataType_DT_BOOL) }

func (r *relation) run(c *call) error {
	x, y, dst := c.in[0], c.in[1], c.out[0].Bool
	var w walk
	w.spread(c.out[0], c.in)
	switch x.Type {
	case tfpb.DataType_DT_FLOAT:
		compare(&w, dst, x.Float32, y.Float32, order, r.ordered)
	case tfpb.DataType_DT_DOUBLE:
		compare(&w, dst, x.Float64, y.Float64, order, r.ordered)
	case tfpb.DataType_DT_INT32:
		compare(&w, dst, x.Int32, y.Int32, order, r.ordered)
	case tfpb.DataType_DT_INT64:
		compare(&w, dst, x.Int64, y.Int64, order, r.ordered)
	case tfpb.DataType_DT_STRING:
		compare(&w, dst, x.Bytes, y.Bytes, func(x, y []byte) int { return order(bytes.Compare(x, y), 0) }, r.ordered)
	default:
		compare(&w, dst, x.Bool, y.Bool, truths, r.truth)
	}
	return nil
}

// compare writes whether the result of f is one of those that are asked for.
func compare[T any](w *walk, dst []bool, x, y []T, f func(x, y T) int, want int) {
	for w.next() {
		i, j := w.at[1], w.at[2]
		for k := range dst[w.at[0]:][:w.n] {
			dst[w.at[0]+k] = f(x[i], y[j])&want != 0
			i, j = i+w.by[1], j+w.by[2]
		}
	}
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

func truths(x, y bool) int {
	shift := 0
	if x {
		shift += 2
	}
	if y {
		shift++
	}
	return 1 << shift
}

func isNaN(c *call) error {
	dst := c.out[0].Bool
	for i, v := range c.in[0].Float32 {
		dst[i] = v != v
	}
	for i, v := range c.in[0].Float64 {
		dst[i] = v != v
	}
	return nil
}

func not(c *call) error {
	for i, v := range c.in[0].Bool {
		c.out[0].Bool[i] = !v
	}
	return nil
}

func bindAlpha(n *node) (any, error) { return n.float("alpha", 0.2), nil }

func leakyReLU(c *call) error {
	c.engine().LeakyReLU(c.out[0].Float32, c.in[0].Float32, c.bound.(float32))
	return nil
}

// choose takes each element of input 1 or input 2, as the condition says.
func choose(c *call) error {
	out := c.out[0]
	var w walk
	w.spread(out, c.in)
	for w.next() {
		at := w.at
		for range w.n {
			from := 2
			if c.in[0].Bool[at[1]] {
				from = 1
			}
			out.take(at[0], c.in[from], at[from+1], 1)
			for k, by := range w.by {
				at[k] += by
			}
		}
	}
	return nil
}
