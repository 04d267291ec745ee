//go:build !noasm

package pixel

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// assembly converts whole groups of 16 and returns the number of their elements.
func assembly(dst []float32, src []byte) int {
	n := len(src) &^ 15
	if n == 0 || !hasAVX2 {
		return 0
	}
	unitAVX2(&dst[0], &src[0], n)
	return n
}

// unitAVX2 does what unit does; n is a multiple of 16 and not 0.
//
//go:noescape
func unitAVX2(dst *float32, src *byte, n int)
