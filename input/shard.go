package input

// EvalBlock is the number of records of an evaluation block. A rank gets whole blocks,
// so that sums per block, added in order, do not depend on the world size.
const EvalBlock = 256

// Share divides n items in order among size ranks and returns the range [first, last) of
// one rank. Shares differ by at most one, the longer ones come first, and a share may be
// empty. Share panics if rank is not in [0, size).
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

// EvalBlocks returns the range [first, last) of records that a rank evaluates: whole
// blocks of [EvalBlock] records, except that the very last block may be short. It panics
// if rank is not in [0, size).
func EvalBlocks(records, rank, size int) (first, last int) {
	blocks := (records + EvalBlock - 1) / EvalBlock
	first, last = Share(blocks, rank, size)
	return min(first*EvalBlock, records), min(last*EvalBlock, records)
}
