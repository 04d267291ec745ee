//go:build !amd64 || noasm

package kernel

// micro runs the set's micro-kernel.
func (e *Engine) micro(t *tile) { tilePortable(t) }

// gather runs the set's kernel of listed rows.
func (e *Engine) gather(g *gather) { gatherPortable(g) }

// spread is never called.
func (e *Engine) spread(*gather) {}

func (e *Engine) scanRow(index []int32, value, x []float32) int { return scan(index, value, x) }

func (s Set) copyRows(dst, src []float32, rows, cols, to, from int) {
	copyRows(dst, src, rows, cols, to, from)
}

func (s Set) transpose(dst, src []float32, rows, cols, to, from int) {
	transpose(dst, src, rows, cols, to, from)
}
