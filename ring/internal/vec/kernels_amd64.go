//go:build !noasm

package vec

import "golang.org/x/sys/cpu"

// assembly reports whether this machine has the instructions that the assembly uses.
var assembly = cpu.X86.HasAVX2 && cpu.X86.HasF16C

// Each assembly function computes the same as the Go function of its name without AVX2. n is a
// positive multiple of stride; b starts at any address.

//go:noescape
func sumAVX2(dst, a, b *float32, n int)

//go:noescape
func subtractAVX2(dst, src *float32, n int)

//go:noescape
func absMaxAVX2(src *float32, n int) uint32

//go:noescape
func finiteAVX2(src *float32, n int) bool

//go:noescape
func putBF16AVX2(b *byte, src *float32, n int)

//go:noescape
func getBF16AVX2(dst *float32, b *byte, n int)

//go:noescape
func addBF16AVX2(dst *float32, b *byte, n int)

//go:noescape
func putFP16AVX2(b *byte, src *float32, n int, scale float32)

//go:noescape
func getFP16AVX2(dst *float32, b *byte, n int, scale float32)

//go:noescape
func addFP16AVX2(dst *float32, b *byte, n int, scale float32)

//go:noescape
func putInt8AVX2(b *byte, src *float32, n int, inv float32)

//go:noescape
func getInt8AVX2(dst *float32, b *byte, n int, scale float32)

//go:noescape
func addInt8AVX2(dst *float32, b *byte, n int, scale float32)
