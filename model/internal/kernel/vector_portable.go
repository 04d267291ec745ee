package kernel

// What assembly may do; the portable bodies do it.

func (o op) assembly(Set, []float32, []float32, []float32, float32) int { return 0 }

func groupSum(_ Set, x []float32) float32 { return groupSumRef(x) }

func groupSquares(_ Set, x []float32, mean float32) float32 { return groupSquaresRef(x, mean) }

func dropSpan(_ Set, dst, src []float32, k *dropKey, add bool) { dropRef(dst, src, 0, k, add) }

func maxCell(_ Set, y []float32, arg []int32, x []float32, cell int32) { maxCellRef(y, arg, x, cell) }

func maxCellGrad(_ Set, x, y []float32, arg []int32, cell int32) { maxCellGradRef(x, y, arg, cell) }
