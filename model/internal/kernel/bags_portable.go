//go:build !amd64 || noasm

package kernel

// What the assembly does elsewhere; here the portable bodies do it.

func (t *bagSpan) assembly(int, int, int, int) int { return 0 }

func (t *gatherTask) assembly(int, int) bool { return false }
