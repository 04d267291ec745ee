//go:build !amd64 || noasm

package kernel

// What the assembly does elsewhere; here the portable bodies do it.

func groupSum(_ Set, x []float32) float32 { return groupSumRef(x) }

func groupSquares(_ Set, x []float32, mean float32) float32 { return groupSquaresRef(x, mean) }

func dropSpan(_ Set, dst, src []float32, k *dropKey, add bool) { dropRef(dst, src, 0, k, add) }

func (w *poolWindow) assembly(Set, poolKind) int { return 0 }

func norm(_ Set, y, x, gamma, beta []float32, mean, inv float32) {
	normRef(y, x, gamma, beta, mean, inv)
}

func normSums(_ Set, dGamma, dBeta, g, gh, x, dy, gamma []float32, mean, inv float32) {
	normSumsRef(dGamma, dBeta, g, gh, x, dy, gamma, mean, inv)
}

func normGrad(_ Set, dx, g, x []float32, mean, inv, first, second float32) {
	normGradRef(dx, g, x, mean, inv, first, second)
}

func fewClasses(_ Set, p, z, y []float32, out []softmaxSums, k int) { fewClassesRef(p, z, y, out, k) }
