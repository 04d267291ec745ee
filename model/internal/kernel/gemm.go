// Package kernel holds the matrix products of the layers. All matrices are
// dense, row-major float32, and a caller's wrong length is a panic.
//
// The products run on the calling goroutine, allocate nothing, and sum in an
// order that depends on nothing but the depth k: an element of the result has
// the same bits in a batch of one row and of a thousand, on every rank.
package kernel

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Gonum cuts a product into blocks of 64×64 and starts goroutines from four
// blocks on. A tile of ours stays below.
const (
	tileRows = 64
	tileCols = 192
)

// Gemm computes dst = a·b + bias.
//
//	a [m, k]   b [k, n]   bias [n] or nil   dst [m, n]
//
// dst must not overlap the others. Sums run over k from 0 on, in float32, and
// bias is added last. Products with an element of a that is zero are left out,
// so a zero there hides a NaN or an infinity in b.
//
// The loops are those of gonum's blas32.Gemm: without fused multiply-add on
// amd64, with it where the Go compiler fuses (arm64). So results may differ in
// the last bits between architectures.
func Gemm(dst, a, b, bias []float32, m, n, k int) {
	if len(dst) != m*n || len(a) != m*k || len(b) != k*n || (bias != nil && len(bias) != n) {
		panic("kernel: Gemm: length does not match shape")
	}
	tiles(blas.NoTrans, dst, a, b, product{m, n, k})
	if bias == nil {
		return
	}
	for i := range m {
		row := dst[i*n : (i+1)*n]
		for j, v := range bias {
			row[j] += v
		}
	}
}

// GemmTA computes dst = aᵀ·b.
//
//	a [k, m]   b [k, n]   dst [m, n]
//
// dst must not overlap the others. Order, rounding and the rule for zeros in a
// are those of [Gemm].
func GemmTA(dst, a, b []float32, m, n, k int) {
	if len(dst) != m*n || len(a) != k*m || len(b) != k*n {
		panic("kernel: GemmTA: length does not match shape")
	}
	tiles(blas.Trans, dst, a, b, product{m, n, k})
}

// product is the size of a matrix product: dst [m, n], summed over k.
type product struct{ m, n, k int }

// tiles computes dst = a·b, or aᵀ·b, tile by tile of dst.
func tiles(tA blas.Transpose, dst, a, b []float32, p product) {
	if p.k == 0 {
		clear(dst)
		return
	}
	for i := 0; i < p.m; i += tileRows {
		rows := min(tileRows, p.m-i)
		for j := 0; j < p.n; j += tileCols {
			cols := min(tileCols, p.n-j)
			blas32.Gemm(tA, blas.NoTrans,
				1, stripe(tA, a, i, rows, p), blas32.General{Rows: p.k, Cols: cols, Stride: p.n, Data: b[j:]},
				0, blas32.General{Rows: rows, Cols: cols, Stride: p.n, Data: dst[i*p.n+j:]})
		}
	}
}

// stripe is the part of a that rows i to i+rows of the result need: rows of a,
// or columns where a is transposed.
func stripe(tA blas.Transpose, a []float32, i, rows int, p product) blas32.General {
	if tA == blas.NoTrans {
		return blas32.General{Rows: rows, Cols: p.k, Stride: p.k, Data: a[i*p.k:]}
	}
	return blas32.General{Rows: p.k, Cols: rows, Stride: p.m, Data: a[i:]}
}
