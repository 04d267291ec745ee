package kernel

import (
	"fmt"
	"slices"
	"strings"
)

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

var setNames = []string{"portable", "avx2", "avx512"}

// SetNames returns the names of all sets, lowest first.
func SetNames() []string { return slices.Clone(setNames) }

// String returns the name in options, messages and checkpoints.
func (s Set) String() string { return setNames[s] }

// ParseSet returns the set with a name. The machine may lack the set; see [Sets].
func ParseSet(name string) (Set, error) {
	if i := slices.Index(setNames, name); i >= 0 {
		return Set(i), nil
	}
	return Portable, fmt.Errorf("kernel set is %q, want one of %s", name, strings.Join(setNames, ", "))
}

// Sets returns the sets of this build that this machine supports, lowest first. The
// first is always [Portable].
func Sets() []Set {
	return []Set{Portable, AVX2, AVX512}[:highest()+1]
}
