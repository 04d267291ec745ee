package ring

import (
	"fmt"
	"slices"
	"strings"

	"ringtrain/ring/exitcode"
)

// Algorithm is a way to sum a buffer over links.
type Algorithm uint8

// The algorithms, by the size that they are for. log₂ p stands for the hops of
// recursive doubling, which are two more where p is no power of two.
const (
	// ByRing cuts the buffer into p chunks that go around the ring: the fewest
	// bytes, 2(p-1)/p of the buffer a rank, in 2(p-1) hops. It alone uses the
	// codec and the lossless compressor, and it is what all sizes take where
	// there are no links for doubling.
	ByRing Algorithm = iota

	// ByDoubling exchanges the whole buffer, summed so far, with one partner
	// after the other: log₂ p hops, and log₂ p times the buffer.
	ByDoubling

	// ByHalving sums halves of halves, each with another partner, and collects the
	// parts on the way back: 2·log₂ p hops, and 2(p-1)/p of the buffer where p is
	// a power of two, else twice the buffer more for some ranks (Rabenseifner,
	// "Optimization of collective reduction operations", 2004). Where there is a
	// codec or a compressor to use the ring takes its place.
	ByHalving

	// ByAuto is one of the others, by the size of the buffer.
	ByAuto
)

var algorithmNames = [...]string{ByRing: "ring", ByDoubling: "doubling", ByHalving: "halving", ByAuto: "auto"}

func (a Algorithm) String() string { return algorithmNames[a] }

// AlgorithmNames returns the names of all algorithms.
func AlgorithmNames() []string { return slices.Clone(algorithmNames[:]) }

// The crossovers of auto: the largest buffers that doubling and halving sum. They were measured by
// 2 to 8 processes that sum over TCP on 2 cores:
//
//   - doubling takes 0.5 to 0.65 of the ring's time up to 32 KiB, and about as long as halving at
//     64 KiB.
//   - halving takes 0.65 to 0.95 of the ring's time from 64 to 512 KiB. Beyond, the ring adds one
//     segment while the next is on its way.
//
// Between hosts the wire bounds what is larger than some KiB, so halving begins early, and only where
// it sends no more than the ring: where p is a power of two. Two ranks have no use for it, because the
// ring sends the same messages, and each way over a connection of its own.
//
// Doubling and halving add in the same order.
const (
	mostDoubled = 32 << 10
	mostHalved  = 512 << 10
)

// exactBytes is up to where auto has a codec unused: variables up to this size
// are in exact buckets anyway, and what is larger was meant to be compressed.
const exactBytes = 4 << 10

// Choose returns how so many workers sum a buffer of so many bytes over links, if each has tailBytes of
// tails. coded reports that there is a codec or a compressor to use.
//
// Whatever a is, it is the ring with tails too long for another algorithm, and where halving would have
// a codec or a compressor to use. Auto makes way for those from 4 KiB on.
func (a Algorithm) Choose(workers, bytes, tailBytes int, coded bool) Algorithm {
	switch {
	case workers*tailBytes > maxRoundsTails, coded && a == ByHalving, coded && a == ByAuto && bytes > exactBytes:
		return ByRing
	case a != ByAuto:
		return a
	case bytes <= mostDoubled:
		return ByDoubling
	case bytes <= mostHalved && workers > 2 && (cube{workers}).extras() == 0:
		return ByHalving
	}
	return ByRing
}

// ParseAlgorithm returns the algorithm of this name. An error has exitcode.Usage.
func ParseAlgorithm(name string) (Algorithm, error) {
	i := slices.Index(algorithmNames[:], name)
	if i < 0 {
		return ByAuto, exitcode.With(exitcode.Usage, fmt.Errorf("algorithm is %q, want one of %s", name, strings.Join(algorithmNames[:], ", ")))
	}
	return Algorithm(i), nil
}
