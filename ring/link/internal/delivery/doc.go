// Package delivery has what links share at the end of a stream: the last frame, the abort that
// it may carry, and the error that names the neighbour.
package delivery
