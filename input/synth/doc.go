// Package synth draws data sets, so that everything can be tried without any
// file: a line with noise, images of digits, clicks; and click logs of any size.
//
// A data set is a function of its arguments, bit for bit and on every platform:
// all numbers come from PCG (math/rand/v2) by additions, multiplications,
// divisions and square roots of float64, which IEEE 754 defines exactly.
// Products are converted to float64 before they are added, which keeps the
// compiler from fusing the two where the processor could.
//
// A drawn data set has two splits, from separate streams of random numbers.
package synth
