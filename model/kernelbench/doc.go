// Package kernelbench measures how fast the kernels compute, in floating-point
// operations a second, and which share of the machine's peak that is. It is behind
// `ringtrain bench kernels`.
//
// [Run] times products of matrices (squares, and the shapes of the models) and
// convolutions, forward and backward, for each kernel set that the machine has.
// A product of [m, k] and [k, n] counts 2·m·n·k operations, a convolution two for
// each product of an element and a weight, those with padding included.
//
// # Peak
//
// The peak of a set is measured, not looked up: a loop of independent fused
// multiply-adds in registers, of the set's width. The portable set has none; its
// peak is that of a multiplication and an addition, one element at a time. A virtual
// machine may change its pace, so the peak is measured before and after the rows of
// each set, and the higher one counts.
//
// # Times
//
// A figure is that of the fastest of many short samples: on a machine that does
// other work as well, it is the one that tells of the kernel. The median is told
// beside it.
package kernelbench
