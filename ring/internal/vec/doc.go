// Package vec holds the loops over float32 vectors that the ring's time goes
// into: sums, conversions to the bytes of the wire and back, and scans.
//
// Each kernel is a small function whose portable body defines its result on
// every platform. Products that feed a sum are converted to float32
// explicitly, so that no compiler fuses the two into one rounding.
//
// On amd64 with AVX2 the bulk of each vector goes through assembly; see
// [Kernels]. It gives the same bits as the portable body, for every length,
// alignment and value, with one exception: where a result is a NaN, it is a NaN
// in both, but sign and payload are those that the hardware makes. NaNs that
// are written as bytes are promised to the bit: one fixed NaN per half format,
// and with PutF32 the NaN that was there. So are those of AbsMax, GetF32 and
// GetBF16, which do no arithmetic.
//
// Three verbs name the kernels that meet bytes; b is little-endian, begins at
// any address, and has the length of the floats times the width of the format,
// exactly:
//
//	PutX(b, src)    b ← src, rounded to X to nearest, ties to even
//	GetX(dst, b)    dst ← b
//	AddX(dst, b)    dst ← dst + b, rounded once per element
//
// Vectors are the same memory or do not overlap. No kernel allocates, and none
// keeps a reference to its arguments. A length that does not fit is the
// caller's bug and panics.
package vec

// mustFit panics unless got, the length of an argument, is want.
func mustFit(got, want int) {
	if got != want {
		panic("vec: lengths do not fit")
	}
}
