package input

// SharedBytes bounds the text that each rank counts alone. Ranks share the counting of larger text.
// Smaller text is counted in about the time of a collective operation.
const SharedBytes = WindowBlocks * BlockBytes

// IsShared reports whether ranks compare the numbers of records of d only when they have met: d is
// large text, which they may have to count first.
func IsShared(d Dataset) bool {
	sized, ok := d.(interface{ Bytes() int64 })
	_, blocked := d.(Blocked)
	_, shared := d.(Shared)
	return ok && (blocked || shared) && sized.Bytes() > SharedBytes
}

// Shared is a Blocked data set that may be opened before its records are counted. Several
// processes with the same files then count a part each, and exchange the counts:
//
//	files   │ part 0 │ part 1 │ part 2 │
//	rank 0    CountShare ─╮
//	rank 1             CountShare ─┼─► JoinCounts, on each rank
//	rank 2                      CountShare ─╯
//
// Until JoinCounts, Len and Blocks have the records of the first blocks only.
type Shared interface {
	// Counted reports whether all records are counted.
	Counted() bool

	// Bytes returns the size of all files, as they lie on disk.
	Bytes() int64

	// Sample returns a checksum of bytes throughout the files. Processes whose samples differ
	// have different files.
	Sample() (uint32, error)

	// CountShare appends the counts of a part of the files to dst.
	CountShare(dst []byte, part, parts int) ([]byte, error)

	// JoinCounts takes the counts of all parts, in their order.
	JoinCounts(parts [][]byte) error
}
