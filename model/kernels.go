package model

import "ringtrain/model/kernel"

// KernelSets returns the names of this build's kernel sets that this machine supports,
// in ascending order: always portable, then avx2 and avx512. Equal variables, examples
// and sets give equal bits on any machine with any number of cores. Sets differ in the
// rounding of products. The ring's kernels have other sets, which each rank chooses
// separately, and which all give equal bits.
func KernelSets() []string {
	var names []string
	for _, s := range kernel.Sets() {
		names = append(names, s.String())
	}
	return names
}
