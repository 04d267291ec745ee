//go:build linux

package kernel

import (
	"fmt"
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"
)

// fence makes slices next to inaccessible memory: an access one element beyond them
// faults.
type fence struct {
	t   *testing.T
	end bool // the slice ends at the fence, else it begins there
}

// floats returns a copy of x next to a fence.
func (f fence) floats(x []float32) []float32 {
	return append(unsafe.Slice((*float32)(f.memory(4*len(x))), len(x))[:0], x...)
}

// numbers returns n zeros next to a fence.
func (f fence) numbers(n int) []int32 { return unsafe.Slice((*int32)(f.memory(4*n)), n) }

// memory returns n bytes next to a fence.
func (f fence) memory(bytes int) unsafe.Pointer {
	page := syscall.Getpagesize()
	size := max(1, (bytes+page-1)/page) * page
	all, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = syscall.Munmap(all) })
	for _, closed := range [][]byte{all[:page], all[page+size:]} {
		if err := syscall.Mprotect(closed, syscall.PROT_NONE); err != nil {
			f.t.Fatal(err)
		}
	}
	if f.end {
		return unsafe.Pointer(&all[page+size-bytes])
	}
	return unsafe.Pointer(&all[page])
}

// inside calls work and fails the test if it accesses memory outside of its slices.
func (f fence) inside(what string, work func()) {
	f.t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			f.t.Errorf("%s with fences at the end (%v): %v", what, f.end, fault)
		}
	}()
	work()
}

// onFences calls f for each set and both sides of the slices.
func onFences(t *testing.T, f func(e *Engine, fence fence)) {
	for _, e := range engines(t, 1) {
		for _, end := range []bool{true, false} {
			f(e, fence{t, end})
		}
	}
}

// TestProductsStayInside verifies that products, of matrices and of lists, access no
// memory outside of their operands.
func TestProductsStayInside(t *testing.T) {
	onFences(t, func(e *Engine, fence fence) {
		for _, p := range append(edges, product{14, 9, 33}, product{33, 1, 3}, product{70, 7, 9}, product{1, 100, 70}) {
			what := fmt.Sprintf("%v %v", e, p)
			a, b, bias := fence.floats(few(p.m*p.k, 1)), fence.floats(random(p.k*p.n, 2)), fence.floats(random(p.n, 3))
			dst := fence.floats(random(p.m*p.n, 4))
			fence.inside(what, func() {
				e.Gemm(dst, a, b, bias, p.m, p.n, p.k, ReLU)
				for _, add := range []bool{false, true} {
					e.GemmTA(dst, a, b, p.m, p.n, p.k, add)
					e.GemmTB(dst, a, b, p.m, p.n, p.k, add)
				}
				var z NonZeros
				e.list(&z, a, p.m, p.k, len(a))
				e.GemmNonZeros(dst, &z, b, bias, p.n, ReLU)
				for range 2 {
					e.GemmNonZerosTA(b, &z, dst, p.n, true)
					z.listColumns()
				}
			})
		}
	})
}

// TestImagesStayInside verifies the same for convolutions and poolings.
func TestImagesStayInside(t *testing.T) {
	onFences(t, func(e *Engine, fence fence) {
		for _, s := range convs {
			c := s.c
			h, wide := c.Out()
			x, w := fence.floats(random(s.n*c.H*c.W*c.C, 1)), fence.floats(random(c.Height*c.Width*c.C*c.Filters, 2))
			y, bias := fence.floats(random(s.n*h*wide*c.Filters, 3)), fence.floats(random(c.Filters, 4))
			fence.inside(fmt.Sprintf("%v %+v", e, c), func() {
				e.Conv(y, x, w, bias, c, ReLU)
				e.ConvInputGrad(x, y, w, c, true)
				e.ConvKernelGrad(w, x, y, c, true)
			})
		}
		for _, p := range poolings {
			h, wide := p.Out()
			x, y := fence.floats(random(2*p.H*p.W*p.C, 1)), fence.floats(random(2*h*wide*p.C, 2))
			arg := fence.numbers(len(y))
			fence.inside(fmt.Sprintf("%v %+v", e, p), func() {
				e.MaxPool(y, arg, x, p)
				e.AvgPool(y, x, p)
				for _, add := range []bool{false, true} {
					e.MaxPoolGrad(x, y, arg, p, add)
					e.AvgPoolGrad(x, y, p, add)
				}
			})
		}
	})
}

// TestRowsStayInside verifies the same for kernels on rows.
func TestRowsStayInside(t *testing.T) {
	onFences(t, func(e *Engine, fence fence) {
		for _, rows := range []int{1, 3, 70} {
			for width := 1; width < 40; width++ {
				some := func(n int) []float32 { return fence.floats(positive(n, uint64(n))) }
				x, y, other := some(rows*width), some(rows*width), some(rows*width)
				label, weight, losses := fence.floats(make([]float32, rows)), some(rows), make([]float64, rows)
				n := Norm{Gamma: some(width), Beta: some(width), Mean: some(rows), Inv: some(rows), Epsilon: 1e-3}
				dGamma, dBeta := some(width), some(width)
				fence.inside(fmt.Sprintf("%v rows=%d/width=%d", e, rows, width), func() {
					e.SumRows(dGamma, x, rows, true)
					e.Softmax(y, losses, x, label, width, 0.1)
					e.SoftmaxGrad(y, y, label, weight, width, 0.1)
					e.Dropout(y, x, rows, Drop{Rate: 0.5}, true)
					e.Dropout(y, x, rows, Drop{Rate: 0.5}, false)
					e.LayerNorm(y, x, n)
					for _, add := range []bool{false, true} {
						e.LayerNormGrad(other, dGamma, dBeta, y, x, n, add, add)
					}
				})
			}
		}
	})
}

// TestElementsStayInside verifies the same for ops and optimizers.
func TestElementsStayInside(t *testing.T) {
	onFences(t, func(e *Engine, fence fence) {
		for n := 1; n < 40; n++ {
			some := func(n int, seed uint64) []float32 { return fence.floats(positive(n, seed)) }
			a, b, dst := some(n, 1), some(n, 2), some(n, 3)
			for o := range opCount {
				fence.inside(fmt.Sprintf("%v op=%s/n=%d", e, opNames[o], n), func() { e.elements(o, dst, a, b, 0.3, false) })
			}
			for r := range rules {
				u := makeUpdate(r, n, some)
				fence.inside(fmt.Sprintf("%v rule=%s/n=%d", e, ruleNames[r], n), func() { e.Update(r, u) })
			}
		}
	})
}

// TestTablesStayInside verifies the same for rows of tables, including the last row.
func TestTablesStayInside(t *testing.T) {
	onFences(t, func(e *Engine, fence fence) {
		for width := 1; width < 40; width++ {
			const rows = 9
			b := drawBags(7, rows, 5, uint64(width))
			table := Table{fence.floats(positive(rows*width, 1)), width, width}
			grad := Table{fence.floats(positive(rows*width, 2)), width, width}
			out, y := fence.floats(positive(b.Len()*width, 3)), fence.floats(positive(b.Len(), 4))
			dst := fence.floats(positive(3*width, 5))
			fence.inside(fmt.Sprintf("%v width=%d", e, width), func() {
				e.GatherRows(dst, table, []uint32{0, 4, rows - 1})
				e.PoolRows(out, table, b)
				e.PoolRowsGrad(grad, out, b)
				e.Interact(y, out, table, 1, b)
				e.InteractGrad(grad, y, out, table, 1, b)
			})
		}
	})
}
