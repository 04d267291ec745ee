//go:build !noasm

package kernel

// micro runs the set's micro-kernel.
func (e *Engine) micro(t *tile) {
	switch e.set {
	case AVX512:
		tileAVX512(t)
	case AVX2:
		tileAVX2(t)
	default:
		tilePortable(t)
	}
}

// The assembly computes the same as tilePortable, with each product fused with its
// addition.

//go:noescape
func tileAVX512(t *tile)

//go:noescape
func tileAVX2(t *tile)

// gather runs the set's kernel of listed rows.
func (e *Engine) gather(g *gather) {
	switch e.set {
	case AVX512:
		gatherAVX512(g)
	case AVX2:
		gatherAVX2(g)
	default:
		gatherPortable(g)
	}
}

// spread adds value[t]·b[i*bs+j] to c[index[t]*scatterCols+j], for the rows i and
// their elements t in ascending order.
func (e *Engine) spread(g *gather) {
	if e.set == AVX512 {
		spreadAVX512(g)
	} else {
		spreadAVX2(g)
	}
}

// scanRow runs the set's scan. index and value have 16 elements more than x.
func (e *Engine) scanRow(index []int32, value, x []float32) int {
	if len(x) == 0 {
		return 0
	}
	switch e.set {
	case AVX512:
		return scanAVX512(&index[0], &value[0], &x[0], len(x))
	case AVX2:
		bulk := len(x) &^ 7
		n := 0
		if bulk > 0 {
			n = scanAVX2(&index[0], &value[0], &x[0], bulk)
		}
		more := scan(index[n:], value[n:], x[bulk:])
		for i := range more {
			index[n+i] += int32(bulk)
		}
		return n + more
	}
	return scan(index, value, x)
}

// copyRows is copyRows by the set's kernel.
func (s Set) copyRows(dst, src []float32, rows, cols, to, from int) {
	if rows == 0 || cols == 0 {
		return
	}
	_, _ = dst[(rows-1)*to+cols-1], src[(rows-1)*from+cols-1]
	switch s {
	case AVX512:
		copyRowsAVX512(&dst[0], &src[0], rows, cols, to, from)
	case AVX2:
		copyRowsAVX2(&dst[0], &src[0], rows, cols, to, from)
	default:
		copyRows(dst, src, rows, cols, to, from)
	}
}

// transpose is transpose by the set's kernel.
func (s Set) transpose(dst, src []float32, rows, cols, to, from int) {
	if rows == 0 || cols == 0 {
		return
	}
	_, _ = dst[(rows-1)*to+cols-1], src[(cols-1)*from+rows-1]
	switch s {
	case AVX512:
		for j := 0; j < cols; j += 16 {
			for l := 0; l < rows; l += 16 {
				transposeAVX512(&dst[l*to+j], &src[j*from+l], min(16, rows-l), min(16, cols-j), to, from)
			}
		}
	case AVX2:
		for j := 0; j < cols; j += 8 {
			for l := 0; l < rows; l += 8 {
				transposeAVX2(&dst[l*to+j], &src[j*from+l], min(8, rows-l), min(8, cols-j), to, from)
			}
		}
	default:
		transpose(dst, src, rows, cols, to, from)
	}
}

//go:noescape
func gatherAVX512(p *gather)

//go:noescape
func gatherAVX2(p *gather)

//go:noescape
func spreadAVX512(p *gather)

//go:noescape
func spreadAVX2(p *gather)

//go:noescape
func scanAVX512(index *int32, value, x *float32, n int) int

//go:noescape
func scanAVX2(index *int32, value, x *float32, n int) int

//go:noescape
func copyRowsAVX512(dst, src *float32, rows, cols, to, from int)

//go:noescape
func copyRowsAVX2(dst, src *float32, rows, cols, to, from int)

//go:noescape
func transposeAVX512(dst, src *float32, rows, cols, to, from int)

//go:noescape
func transposeAVX2(dst, src *float32, rows, cols, to, from int)
