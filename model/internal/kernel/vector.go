package kernel

// vector is what an Engine keeps for the kernels that are no products: one task of
// each kind, so that a call allocates nothing.
type vector struct {
	elementwise elementwise
	rowSums     rowSums
	softmaxRows softmaxRows
	normRows    normRows
	dropRows    dropRows
	poolImages  poolImages
	updates     updates
	rowUpdates  rowUpdates
	bagSpan     bagSpan
	gatherTask  gatherTask
	partials    []float32 // sums of blocks, see partial
	binary      [3][addBlock]float32
}
