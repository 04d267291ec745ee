//go:build !amd64 || noasm

package kernelbench

import "ringtrain/model/kernel"

// multiplyAdd returns the loop of the only set of this build.
func multiplyAdd(kernel.Set) (loop func(rounds int), perRound int) {
	return portableLoop, portableOperations
}
