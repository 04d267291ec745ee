//go:build !amd64 || noasm

package kernel

// Builds without assembly use the portable bodies.

func (t *bagSpan) assembly(int, int, int, int) int { return 0 }

func (t *gatherTask) assembly(int, int) bool { return false }
