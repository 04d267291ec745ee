package kernel

import "fmt"

// A Set is a set of kernels. The sets of one machine are ordered: a machine with a set
// has every lower one too.
//
// Matrix products of [AVX2] and [AVX512] have equal bits, because both sum with fused
// multiply-add in the same order. [Portable] rounds each product, so its last bits
// differ. Elementwise kernels have equal bits in all sets.
type Set int

const (
	Portable Set = iota // Go only; the same bits on every architecture
	AVX2                // amd64 with AVX2, FMA and BMI2
	AVX512              // amd64 with AVX-512 F, BW, DQ and VL
)

// String returns the name in options, messages and checkpoints.
func (s Set) String() string {
	switch s {
	case Portable:
		return "portable"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return fmt.Sprintf("set(%d)", int(s))
}

// ParseSet returns the set with a name. The machine may lack the set; see [Sets].
func ParseSet(name string) (Set, error) {
	for s := Portable; s <= AVX512; s++ {
		if s.String() == name {
			return s, nil
		}
	}
	return Portable, fmt.Errorf("kernel set is %q, want portable, avx2 or avx512", name)
}

// Sets returns the sets of this build that this machine supports, lowest first. The
// first is always [Portable].
func Sets() []Set {
	switch highest() {
	case AVX512:
		return []Set{Portable, AVX2, AVX512}
	case AVX2:
		return []Set{Portable, AVX2}
	}
	return []Set{Portable}
}
