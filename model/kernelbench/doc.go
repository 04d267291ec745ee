// Package kernelbench measures the speed of the kernels, in floating-point operations
// per second and as a share of the machine's peak. The command `ringtrain bench kernels`
// uses it.
//
// [Run] times products of matrices (squares, and the shapes of the models) and
// convolutions, forward and backward, for each kernel set of the machine. A product of
// [m, k] and [k, n] counts 2·m·n·k operations. A convolution counts two per product of
// an element and a weight, including those with padding.
//
// # Peak
//
// The peak of a set is measured: a loop of independent fused multiply-adds in registers
// of the set's width. The peak of the portable set is that of a multiplication and an
// addition of single elements. A virtual machine may change its speed, so the peak is
// measured before and after the rows of each set, and the higher one counts.
//
// # Times
//
// A figure is that of the fastest of many short samples, which other load on the machine
// affects least. The table also has the median.
package kernelbench
