//go:build !amd64 || noasm

package kernel

// Builds without assembly have the portable bodies alone.

// highest returns the only set of this build.
func highest() Set { return Portable }

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

func (s Set) mixRows(ids []uint32, w []float32, width int) uint64 { return mixRows(ids, w, width) }
func (s Set) gatherRows([]float32, Table, []uint32, int) bool     { return false }

func groupSum(_ Set, x []float32) float32                               { return groupSumRef(x) }
func dropSpan(_ Set, dst, src []float32, k *dropKey, add bool)          { dropRef(dst, src, 0, k, add) }
func fewClasses(_ Set, p, z, y []float32, o []softmaxSums, k int)       { fewClassesRef(p, z, y, o, k) }
func (r *normRows) forwardRows(int, int) bool                           { return false }
func (r *normRows) backwardRows([]float32, int, int) bool               { return false }
func (bs *bagSpan) assembly(int, int, int, int) int                     { return 0 }
func (w *poolWindow) assembly(Set, poolKind) int                        { return 0 }
func (r Rule) assembly(Set, *Update) int                                { return 0 }
func (o op) assembly(Set, []float32, []float32, []float32, float32) int { return 0 }
