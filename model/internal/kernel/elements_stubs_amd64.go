//go:build !noasm

package kernel

// The assembly of elements_wide_amd64.h computes the same as the portable bodies of the
// same names. n is a positive multiple of the width of a vector.

//go:noescape
func addAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func multiplyAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func axpyAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func scaleAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func divideAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func addQuotientAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func shiftAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func clampAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func averageAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func expAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func logAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func tanhAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func tanhGradAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func sigmoidAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func sigmoidGradAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func geluAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func geluGradAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func reluAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func reluGradAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func leakyReLUAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func leakyReLUGradAVX2(dst, a, b *float32, n int, x float32)

//go:noescape
func addAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func multiplyAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func axpyAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func scaleAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func divideAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func addQuotientAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func shiftAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func clampAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func averageAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func expAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func logAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func tanhAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func tanhGradAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func sigmoidAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func sigmoidGradAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func geluAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func geluGradAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func reluAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func reluGradAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func leakyReLUAVX512(dst, a, b *float32, n int, x float32)

//go:noescape
func leakyReLUGradAVX512(dst, a, b *float32, n int, x float32)
