//go:build !noasm

package kernel

// micro runs the set's micro-kernel.
func (e *Engine) micro(t *tile) {
	switch e.set {
	case AVX512:
		tileAVX512(t)
	case AVX2:
		tileAVX2(t)
	default:
		tilePortable(t)
	}
}

// What the assembly computes is what tilePortable does, with each product fused
// with its addition.

//go:noescape
func tileAVX512(t *tile)

//go:noescape
func tileAVX2(t *tile)
