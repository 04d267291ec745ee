package input

// EvalBlock is the number of records that evaluation treats as one: a rank gets
// whole blocks, so that sums per block, folded in order, do not depend on the
// world size.
const EvalBlock = 256

// Share cuts n things in order among size ranks and returns the span
// [first, last) of one of them. Shares differ by one at most, the longer ones
// come first, and a share may be empty. It panics if rank is not in [0, size).
func Share(n, rank, size int) (first, last int) {
	if rank < 0 || rank >= size {
		panic("input: rank is not in [0, size)")
	}
	each, longer := n/size, n%size
	first = rank*each + min(rank, longer)
	last = first + each
	if rank < longer {
		last++
	}
	return first, last
}

// EvalBlocks returns the records [first, last) that a rank evaluates: a run of
// whole blocks of [EvalBlock] records, of which only the very last may be short.
// It panics if rank is not in [0, size).
func EvalBlocks(records, rank, size int) (first, last int) {
	blocks := (records + EvalBlock - 1) / EvalBlock
	first, last = Share(blocks, rank, size)
	return min(first*EvalBlock, records), min(last*EvalBlock, records)
}
