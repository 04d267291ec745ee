package synth

import "math/rand/v2"

// Split is one of the two parts of a data set.
type Split string

// The splits. No record of one is drawn from the numbers of the other.
const (
	Train Split = "train"
	Eval  Split = "eval"
)

// Streams of random numbers of a seed.
const (
	streamHidden = iota // what both splits share
	streamTrain
	streamEval
)

// stream returns the number of the split's stream, and panics if there is no
// such split.
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

// unit returns a number in [0, 1), uniformly.
func (s source) unit() float64 { return float64(s.pcg.Uint64()>>11) / (1 << 53) }

// below returns a whole number in [0, n), uniformly.
func (s source) below(n int) int { return int(s.unit() * float64(n)) }

// around returns a number in [-r, r), uniformly.
func (s source) around(r float64) float64 { return float64(2*r*s.unit()) - r }

// normal returns a number of mean 0 and variance 1 that is nearly normal: the
// sum of twelve uniform ones, less 6. It never exceeds ±6.
func (s source) normal() float64 {
	sum := -6.0
	for range 12 {
		sum += s.unit()
	}
	return sum
}
