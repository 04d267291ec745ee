package input

import "context"

// ReadRecords replaces b by the records [first, last) of d. With tolerate it leaves out bad ones: see
// AppendGood.
func ReadRecords(b *Batch, d Dataset, first, last int, tolerate bool) error {
	b.Reset()
	records := make([]int, last-first)
	for i := range records {
		records[i] = first + i
	}
	var err error
	if tolerate {
		err = AppendGood(b, d, records)
	} else {
		err = d.Append(b, records...)
	}
	if err != nil {
		return err
	}
	b.X.Bags.Index()
	return nil
}

// EachBlock reads the first n records of d into b, [EvalBlock] at a time, and calls visit with the number of the first
// of each block. Its error is that of a read or of visit, or the cause of ctx when that ends.
func EachBlock(ctx context.Context, b *Batch, d Dataset, n int, tolerate bool, visit func(first int) error) error {
	for first := 0; first < n; first += EvalBlock {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := ReadRecords(b, d, first, min(first+EvalBlock, n), tolerate); err != nil {
			return err
		}
		if err := visit(first); err != nil {
			return err
		}
	}
	return nil
}
