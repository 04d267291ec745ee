// Package vec has the loops over float32 vectors in which the ring spends its time: sums,
// conversions to the bytes of the wire and back, and scans.
//
// Each kernel is a small function whose portable body defines its result on
// every platform. Products that feed a sum are converted to float32
// explicitly, so that no compiler fuses the two into one rounding.
//
// On amd64 with AVX2, assembly processes the bulk of each vector; see [Kernels]. It gives the
// same bits as the portable body for every length, alignment and value, with one exception. If
// a result is a NaN, it is a NaN in both, but its sign and payload depend on the hardware. NaNs
// that are written as bytes are defined to the bit: one fixed NaN per half format, and the
// original NaN with PutF32. The same holds for AbsMax, GetF32 and GetBF16, which do no
// arithmetic.
//
// Three verbs name the kernels on bytes. b is little-endian, starts at any address, and has
// exactly the number of floats times the width of the format:
//
//	PutX(b, src)    b ← src, rounded to X to nearest, ties to even
//	GetX(dst, b)    dst ← b
//	AddX(dst, b)    dst ← dst + b, rounded once per element
//
// Vectors must be the same memory or must not overlap. No kernel allocates or keeps a reference
// to its arguments. Lengths that do not fit together panic.
package vec

// mustFit panics unless got, the length of an argument, is want.
func mustFit(got, want int) {
	if got != want {
		panic("vec: lengths do not fit")
	}
}
