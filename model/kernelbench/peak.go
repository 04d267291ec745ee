package kernelbench

import (
	"runtime"
	"time"

	"ringtrain/model/kernel"
)

const (
	peakRounds  = 1 << 14 // rounds per sample of the peak
	peakSamples = 200
)

// peak returns the measured operations per second of one core in registers.
func peak(s kernel.Set) float64 {
	loop, perRound := multiplyAdd(s)
	fastest := time.Duration(0)
	for i := range peakSamples {
		start := time.Now()
		loop(peakRounds)
		if took := time.Since(start); i == 0 || took < fastest {
			fastest = took
		}
	}
	return float64(peakRounds*perRound) / max(fastest, 1).Seconds()
}

// portableOperations is the number of operations of a round of multiplyAddPortable.
const portableOperations = 2 * 8

// multiplyAddPortable multiplies and adds eight independent numbers per round. It
// returns their sum, so that the compiler removes none.
func multiplyAddPortable(rounds int) float32 {
	var a, b, c, d, e, f, g, h float32 = 1, 2, 3, 4, 5, 6, 7, 8
	const by, plus = 0.5, 1
	for range rounds {
		a = float32(a*by) + plus
		b = float32(b*by) + plus
		c = float32(c*by) + plus
		d = float32(d*by) + plus
		e = float32(e*by) + plus
		f = float32(f*by) + plus
		g = float32(g*by) + plus
		h = float32(h*by) + plus
	}
	return a + b + c + d + e + f + g + h
}

// portableLoop has the form of the loops of the other sets.
func portableLoop(rounds int) { runtime.KeepAlive(multiplyAddPortable(rounds)) }
