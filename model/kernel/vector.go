package kernel

// vector has one task of each kind of kernel except products, so that a call allocates
// nothing.
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
