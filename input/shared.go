package input

import "context"

// SharedBytes bounds the text that each rank counts alone. Ranks share the counting of larger text.
// Smaller text is counted in about the time of a collective operation.
const SharedBytes = WindowBlocks * BlockBytes

// Counting counts the records of a data set that was opened before they are counted. Several
// processes with the same files count a part each, and exchange the counts:
//
//	files   │ part 0 │ part 1 │ part 2 │
//	rank 0    CountShare ─╮
//	rank 1             CountShare ─┼─► JoinCounts, on each rank
//	rank 2                      CountShare ─╯
//
// Until JoinCounts, Facts has the records of the first blocks only.
type Counting interface {
	// Sample returns a checksum of bytes throughout the files. Processes whose samples differ
	// have different files.
	Sample() (uint32, error)

	// CountShare appends the counts of a part of the files to dst. When ctx ends, it returns the cause.
	CountShare(ctx context.Context, dst []byte, part, parts int) ([]byte, error)

	// JoinCounts takes the counts of all parts, in their order.
	JoinCounts(parts [][]byte) error
}
