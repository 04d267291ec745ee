// Package synth draws data sets, for use without any file: a noisy line, images of
// digits, clicks, and click logs of any size.
//
// A data set is a function of its arguments, bit for bit and on every platform. All
// numbers come from PCG (math/rand/v2) by additions, multiplications, divisions and
// square roots of float64, which IEEE 754 defines exactly. Products are converted to
// float64 before an addition, so that the compiler does not fuse the operations.
//
// A drawn data set has two splits, from separate streams of random numbers.
package synth
