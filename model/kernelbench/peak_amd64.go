//go:build !noasm

package kernelbench

import "ringtrain/model/kernel"

// multiplyAdd returns the loop of a set and the operations of one of its rounds.
func multiplyAdd(s kernel.Set) (loop func(rounds int), perRound int) {
	const accumulators = 12
	switch s {
	case kernel.AVX512:
		return multiplyAddAVX512, 2 * 16 * accumulators
	case kernel.AVX2:
		return multiplyAddAVX2, 2 * 8 * accumulators
	}
	return portableLoop, portableOperations
}

// multiplyAddAVX2 does 12 fused multiply-adds of 8 elements a round.
//
//go:noescape
func multiplyAddAVX2(rounds int)

// multiplyAddAVX512 does 12 fused multiply-adds of 16 elements a round.
//
//go:noescape
func multiplyAddAVX512(rounds int)
