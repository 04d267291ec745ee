// Package vec holds the loops over float32 vectors that the ring's time goes
// into: sums, conversions to the bytes of the wire and back, and scans.
//
// Each kernel is a small function whose portable body defines its result, bit
// for bit, on every platform. Products that feed a sum are converted to float32
// explicitly, so that no compiler fuses the two into one rounding. NaNs that
// are written as bytes are written as one fixed NaN per format, since hardware
// disagrees about their signs and payloads.
//
// Three verbs name the kernels that meet bytes; b is little-endian and has
// the length of the floats times the width of the format, exactly:
//
//	PutX(b, src)    b ← src, rounded to X to nearest, ties to even
//	GetX(dst, b)    dst ← b
//	AddX(dst, b)    dst ← dst + b, rounded once per element
//
// No kernel allocates, and none keeps a reference to its arguments. A length
// that does not fit is the caller's bug and panics.
package vec

// mustFit panics unless got, the length of an argument, is want.
func mustFit(got, want int) {
	if got != want {
		panic("vec: lengths do not fit")
	}
}
