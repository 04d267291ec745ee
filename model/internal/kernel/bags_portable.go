//go:build !amd64 || noasm

package kernel

// Builds without assembly use the portable bodies.

func (bs *bagSpan) assembly(int, int, int, int) int { return 0 }

func (s Set) gatherRows([]float32, Table, []uint32, int) bool { return false }
