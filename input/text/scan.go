package text

import (
	"context"
	"sync"

	"ringtrain/input"
	"ringtrain/input/internal/blockcache"
)

// Scan parses the training records of the first blocks, side by side. It calls visit for each record
// with its number and a batch that holds it alone, one call at a time, in no order. A
// record that is bad is an error, the first of all in the order of the files; or, if
// tolerate is true, left out.
func (s *Set) Scan(ctx context.Context, blocks int, tolerate bool, visit func(record int, b *input.Batch)) error {
	var mu sync.Mutex
	var idle sync.Pool // *input.Batch
	return input.SideBySide(ctx, blocks, s.goroutines(), func(_, at int) error {
		b, ok := idle.Get().(*input.Batch)
		if !ok {
			b = new(input.Batch)
		}
		defer idle.Put(b)
		first := s.blocks.First(at)
		return s.eachLine(at, func(block *lines, k int) error {
			if !s.facts.Parts.Trains(first + k) {
				return nil
			}
			b.Reset()
			err := s.parse(b, block, k)
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				visit(first+k, b)
			}
			return err
		}, unless(tolerate))
	})
}

// checkBlocks is how many blocks Check parses: 1 MiB, which takes a millisecond.
const checkBlocks = 16

// Check parses the training records of the first MiB.
func (s *Set) Check(ctx context.Context) error {
	return s.Scan(ctx, min(s.blocks.Len(), checkBlocks), false, func(int, *input.Batch) {})
}

// Fault returns err with the coordinates of a record's line.
func (s *Set) Fault(record int, err error) error {
	at, k := s.blocks.Find(record)
	block, fault := s.loaded.Get(at)
	if fault != nil {
		return fault
	}
	defer s.loaded.Put(block)
	return s.lineError(blockcache.Location{Record: record, Block: at, Place: k}, &block.Data, err)
}

// mostBad bounds the records that AppendBlock tries in search of a good one, for the shape of all.
const mostBad = 1 << 16

// AppendBlock adds the records of a block to b. In place of a bad record it adds an empty one,
// and calls bad with the place in the block and the error.
func (s *Set) AppendBlock(b *input.Batch, block int, bad func(place int, err error)) error {
	s.learn.Do(func() { s.shape, _ = input.LearnShape(context.Background(), s, mostBad) })
	return s.eachLine(block, func(held *lines, k int) error {
		before := b.Mark()
		err := s.parse(b, held, k)
		if err != nil {
			b.Restore(before)
			b.AppendEmpty(s.shape)
		}
		return err
	}, func(k int, err error) error {
		bad(k, err)
		return nil
	})
}

// FileRecords returns the number of records of each file.
func (s *Set) FileRecords() []int {
	var all []int
	for _, f := range s.files {
		all = append(all, s.blocks.First(f.first+f.blocks())-s.blocks.First(f.first))
	}
	return all
}
