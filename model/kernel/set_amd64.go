//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

// highest returns the highest set of this machine.
func highest() Set {
	switch x := &cpu.X86; {
	case !x.HasAVX2 || !x.HasFMA || !x.HasBMI2 || !x.HasPOPCNT:
		return Portable
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL:
		return AVX2
	}
	return AVX512
}
