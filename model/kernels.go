package model

import "ringtrain/model/internal/kernel"

// KernelSets returns the names of the sets of kernels that this build has on this machine, in
// ascending order: portable always, then avx2 and avx512. Equal variables and examples give
// equal bits with equal sets, whatever the machine and its number of cores; sets differ among
// each other by the rounding of products. The ring's kernels have sets of their own, chosen by
// each rank for itself, that all give equal bits.
func KernelSets() []string {
	var names []string
	for _, s := range kernel.Sets() {
		names = append(names, s.String())
	}
	return names
}
