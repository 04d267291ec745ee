package kernel

// op is a function of one or two elements, applied to whole slices. Its result has the
// same bits in all sets and at any position.
type op int

const (
	opAdd op = iota
	opMultiply
	opAxpy
	opScale
	opDivide
	opAddQuotient
	opShift
	opClamp
	opAverage
	opExp
	opLog
	opTanh
	opTanhGrad
	opSigmoid
	opSigmoidGrad
	opGELU
	opGELUGrad
	opReLU
	opReLUGrad
	opLeakyReLU
	opLeakyReLUGrad
	opCount
)

// elementGrain is the minimum number of elements for another thread.
const elementGrain = 1 << 14

// elementwise is the task of an op.
type elementwise struct {
	op        op
	set       Set
	dst, a, b []float32
	x         float32
	add       bool
	block     [][addBlock]float32 // one per thread, for add
}

// addBlock is the number of elements that are computed before an addition.
const addBlock = 512

// elements computes dst = op(a, b, x), or adds it to dst.
func (e *Engine) elements(o op, dst, a, b []float32, x float32, add bool) {
	if len(a) != len(dst) || len(b) != len(dst) {
		panic("kernel: slices of different lengths")
	}
	t := &e.elementwise
	t.op, t.set, t.dst, t.a, t.b, t.x, t.add = o, e.set, dst, a, b, x, add
	if add && t.block == nil {
		t.block = make([][addBlock]float32, e.Threads())
	}
	e.Run(len(dst), elementGrain, t)
}

// Span computes elements lo to hi.
func (e *elementwise) Span(lo, hi, thread int) {
	if !e.add {
		e.op.apply(e.set, e.dst[lo:hi], e.a[lo:hi], e.b[lo:hi], e.x)
		return
	}
	for ; lo < hi; lo += addBlock {
		end := min(hi, lo+addBlock)
		part, dst := e.block[thread][:end-lo], e.dst[lo:end]
		e.op.apply(e.set, part, e.a[lo:end], e.b[lo:end], e.x)
		opAdd.apply(e.set, dst, dst, part, 0)
	}
}

// apply computes dst = o(a, b, x) on the calling goroutine.
func (o op) apply(s Set, dst, a, b []float32, x float32) {
	if n := o.assembly(s, dst, a, b, x); n < len(dst) {
		bodies[o](dst[n:], a[n:], b[n:], x)
	}
}

// bodies has the body of each op that defines its result.
var bodies = [opCount]func(dst, a, b []float32, x float32){
	opAdd:           addRef,
	opMultiply:      multiplyRef,
	opAxpy:          axpyRef,
	opScale:         scaleRef,
	opDivide:        divideRef,
	opAddQuotient:   addQuotientRef,
	opShift:         shiftRef,
	opClamp:         clampRef,
	opAverage:       averageRef,
	opExp:           expRef,
	opLog:           logRef,
	opTanh:          tanhRef,
	opTanhGrad:      tanhGradRef,
	opSigmoid:       sigmoidRef,
	opSigmoidGrad:   sigmoidGradRef,
	opGELU:          geluRef,
	opGELUGrad:      geluGradRef,
	opReLU:          reluRef,
	opReLUGrad:      reluGradRef,
	opLeakyReLU:     leakyReLURef,
	opLeakyReLUGrad: leakyReLUGradRef,
}
