//go:build !amd64 || noasm

package kernel

// Builds without assembly use the portable bodies.

func groupSum(_ Set, x []float32) float32 { return groupSumRef(x) }

func dropSpan(_ Set, dst, src []float32, k *dropKey, add bool) { dropRef(dst, src, 0, k, add) }

func (w *poolWindow) assembly(Set, poolKind) int { return 0 }

func (r *normRows) forwardRows(int, int) bool { return false }

func (r *normRows) backwardRows([]float32, int, int) bool { return false }

func fewClasses(_ Set, p, z, y []float32, out []softmaxSums, k int) { fewClassesRef(p, z, y, out, k) }
