package input

import "fmt"

// reader makes consecutive batches from a data set. next must be called by one goroutine
// at a time; fill may be called by several goroutines.
type reader struct {
	data   Dataset
	facts  Facts
	config SourceConfig
	at     Position
	epoch  int64 // of order
	order  sequence
}

// share is this rank's part of a global batch.
type share struct {
	at      Position
	global  int // examples of the global batch
	first   int // position of the first example in the global batch
	records []int
}

// enter prepares the order of an epoch.
func (r *reader) enter(epoch int64) {
	r.epoch, r.order = epoch, newSequence(&r.facts, r.config.Shuffle, r.config.Seed, epoch)
}

// next sets s to this rank's share of the global batch at r.at, and advances.
func (r *reader) next(s *share) {
	if r.at.Epoch != r.epoch {
		r.enter(r.at.Epoch)
	}
	first, last, after := r.at.span(r.config.Batch, r.facts.Records)
	from, to := Share(last-first, r.config.Rank, r.config.Size)
	s.at, s.global, s.first = r.at, last-first, from
	s.records = r.order.share(s.records[:0], first, last, from, to)
	r.at = after
}

// fill sets b to the records of a share.
func (r *reader) fill(b *Batch, s *share) error {
	b.Reset()
	b.Epoch, b.Offset, b.Global, b.First = s.at.Epoch, s.at.Offset, s.global, s.first
	weight := float32(1)
	if !r.config.SumReduction {
		weight = 1 / float32(b.Global)
	}
	if err := r.append(b, s.records); err != nil {
		return fmt.Errorf("input: epoch %d, global batch at %d: %w", b.Epoch+1, b.Offset, err)
	}
	for range b.Y {
		b.Weight = append(b.Weight, weight)
	}
	for i, w := range b.Importance {
		b.Weight[i] *= w
	}
	b.X.Bags.Index()
	return nil
}

// append adds records to b, without the bad ones that are tolerated.
func (r *reader) append(b *Batch, records []int) error {
	if r.config.MaxBad == 0 {
		return r.data.Append(b, records...)
	}
	return AppendGood(b, r.data, records)
}
