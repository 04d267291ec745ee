package synth

import "math/rand/v2"

// Split is one of the two parts of a data set.
type Split string

// The splits. Their records come from different random numbers.
const (
	Train Split = "train"
	Eval  Split = "eval"
)

// Streams of random numbers of a seed.
const (
	streamHidden = iota // common to both splits
	streamTrain
	streamEval
)

// stream returns the number of the split's stream. It panics if there is no such split.
func (s Split) stream() uint64 {
	switch s {
	case Train:
		return streamTrain
	case Eval:
		return streamEval
	}
	panic("synth: split is neither train nor eval")
}

// source draws random numbers.
type source struct{ pcg *rand.PCG }

func newSource(seed, stream uint64) source { return source{rand.NewPCG(seed, stream)} }

// unit returns a uniform number in [0, 1).
func (s source) unit() float64 { return float64(s.pcg.Uint64()>>11) / (1 << 53) }

// below returns a uniform integer in [0, n).
func (s source) below(n int) int { return int(s.unit() * float64(n)) }

// around returns a uniform number in [-r, r).
func (s source) around(r float64) float64 { return float64(2*r*s.unit()) - r }

// normal returns an approximately normal number of mean 0 and variance 1: the sum of
// twelve uniform numbers, minus 6. It never exceeds ±6.
func (s source) normal() float64 {
	sum := -6.0
	for range 12 {
		sum += s.unit()
	}
	return sum
}
