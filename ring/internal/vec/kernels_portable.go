//go:build !amd64 || noasm

package vec

// assembly is false: the functions below are never called.
const assembly = false

func sumAVX2(dst, a, b *float32, n int)                       {}
func subtractAVX2(dst, src *float32, n int)                   {}
func absMaxAVX2(src *float32, n int) uint32                   { return 0 }
func finiteAVX2(src *float32, n int) bool                     { return false }
func putBF16AVX2(b *byte, src *float32, n int)                {}
func getBF16AVX2(dst *float32, b *byte, n int)                {}
func addBF16AVX2(dst *float32, b *byte, n int)                {}
func putFP16AVX2(b *byte, src *float32, n int, scale float32) {}
func getFP16AVX2(dst *float32, b *byte, n int, scale float32) {}
func addFP16AVX2(dst *float32, b *byte, n int, scale float32) {}
func putInt8AVX2(b *byte, src *float32, n int, inv float32)   {}
func getInt8AVX2(dst *float32, b *byte, n int, scale float32) {}
func addInt8AVX2(dst *float32, b *byte, n int, scale float32) {}
