//go:build !noasm

package kernel

// bagOne is a constant of bags_wide_amd64.h.
//
//lint:ignore U1000 the assembly reads it
var bagOne float32 = 1

// bagArgs has the arguments of bagSpan's assembly: bags of one vector of columns. Steps
// are in bytes.
type bagArgs struct {
	start                                             *int32
	slot                                              *uint32
	weights, scale, rows, grad, out                   *float32
	bags, step, rowStep, gradStep, outStep, scaleStep int
}

// assembly computes whole vectors among columns from to from+cols of bags lo to hi, and
// returns the number of their columns. lo is below hi.
func (bs *bagSpan) assembly(lo, hi, from, cols int) int {
	if bs.set == Portable || cols < 8 || len(bs.bags.Slot) == 0 || len(bs.rows.Data) == 0 {
		return 0
	}
	w, b := bs.rows.Width, &bs.bags
	a := bagArgs{
		start: &b.Start[lo*b.Step], slot: &b.Slot[0], weights: &b.Weights[0], bags: hi - lo,
		step: 4 * b.Step, rowStep: 4 * bs.rows.Stride, outStep: 4 * w,
	}
	done := 0
	for cols-done >= 8 {
		at := from + done
		a.rows, a.out = &bs.rows.Data[at], &bs.out[lo*w+at]
		switch bs.kind {
		case bagInteract:
			a.grad, a.gradStep = &bs.second[lo*w+at], 4*w
		case bagPoolGrad, bagInteractGrad:
			a.grad, a.gradStep = &bs.grad.Data[at], 4*bs.grad.Stride
		}
		a.scale, a.scaleStep = nil, 0
		if bs.kind == bagInteractGrad {
			units := w / bs.partWidth
			a.scale, a.scaleStep = &b.Scale[lo*units+from/bs.partWidth], 4*units
		} else if b.Scale != nil {
			a.scale, a.scaleStep = &b.Scale[lo], 4
		}
		if bs.set == AVX512 && cols-done >= 16 {
			bagsAVX512(&a, bs.kind)
			done += 16
			continue
		}
		bagsAVX2(&a, bs.kind)
		done += 8
	}
	return done
}

//go:noescape
func bagsAVX2(a *bagArgs, k bagKind)

//go:noescape
func bagsAVX512(a *bagArgs, k bagKind)

// gatherArgs has the arguments of gatherRows's assembly: n rows are copied, and those of the next
// ids are fetched into the cache, before id number ends. step and row are in bytes.
type gatherArgs struct {
	dst, table *float32
	ids        *uint32
	n, ends    int
	step, row  int
}

// gatherRows copies the rows of the first n ids to dst if their width is a multiple of a vector. It
// fetches rows of the ids behind those, which are due next.
func (s Set) gatherRows(dst []float32, table Table, ids []uint32, n int) bool {
	w := table.Width
	if s == Portable || w == 0 || w%8 != 0 || n == 0 {
		return false
	}
	a := gatherArgs{&dst[0], &table.Data[0], &ids[0], n, len(ids), 4 * table.Stride, 4 * w}
	if s == AVX512 && w%16 == 0 {
		gatherRowsAVX512(&a)
	} else {
		gatherRowsAVX2(&a)
	}
	return true
}

//go:noescape
func gatherRowsAVX2(a *gatherArgs)

//go:noescape
func gatherRowsAVX512(a *gatherArgs)
