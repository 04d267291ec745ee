package input

import (
	"context"
	"errors"
	"sync"

	"ringtrain/ring/exitcode"
)

// ErrClosed is the error of Next after Close.
var ErrClosed = errors.New("input: source is closed")

// SourceConfig configures a Source. It must be equal on all ranks of a job except for
// Rank, Prefetch and Readers.
type SourceConfig struct {
	Batch      int    // examples in a global batch, over all ranks
	Rank, Size int    // rank and world size
	Shuffle    bool   // false means the order of the files
	Seed       uint64 // seed of the order
	Prefetch   int    // number of prefetched batches; 0: Next reads
	Readers    int    // number of prefetching goroutines; 0 means one. Each additional one prefetches one more batch

	// MaxBad is the number of tolerated bad records. A bad record is left out of its
	// batch: see Batch.Bad. The caller adds the numbers over all ranks and compares the
	// sum with MaxBad. With 0 a bad record is an error of Next.
	MaxBad int64

	// SumReduction gives every example the weight 1. Otherwise the weight is 1 /
	// Batch.Global, so that the sum over all ranks is the mean.
	SumReduction bool
}

// Source returns one rank's shares of global batches, epoch after epoch without end.
// Only one goroutine at a time may use it, except for Close.
type Source struct {
	reader reader
	ahead  *prefetch // nil if Next reads
	share  share     // used by Next without prefetch
	at     Position
	err    error // first error of Next, which is permanent
	closed chan struct{}
	close  sync.Once
}

// NewSource returns a Source over d that starts at a position; the zero Position is the
// start of the data. The error is exitcode.BadData if d is empty or the position is
// outside the data. The caller owns d and closes it after the Source. NewSource panics if
// c.Rank is not in [0, c.Size).
func NewSource(ctx context.Context, d Dataset, c SourceConfig, at Position) (*Source, error) {
	Share(0, c.Rank, c.Size)
	facts := d.Facts()
	if facts.Records == 0 {
		return nil, exitcode.With(exitcode.BadData, errors.New("input: the data set has no records"))
	}
	if err := at.check(facts.Records); err != nil {
		return nil, err
	}
	at = at.wrap(facts.Records)
	s := &Source{at: at, closed: make(chan struct{})}
	s.reader = reader{data: d, facts: facts, config: c, at: at}
	s.reader.enter(at.Epoch)
	if c.MaxBad > 0 {
		if _, err := LearnShape(ctx, d, c.MaxBad); err != nil { // no record is good
			return nil, err
		}
	}
	if c.Prefetch > 0 {
		s.ahead = startPrefetch(&s.reader, c.Prefetch, max(c.Readers, 1), s.closed)
	}
	return s, nil
}

// Next sets b to this rank's share of the next global batch. The last batch of an epoch
// is short. A share may be empty: b then has no examples, but Epoch, Offset and Global
// as on every rank. Next exchanges the buffers of b for others of the Source, so it
// allocates nothing after they have grown.
//
// Next returns an error of the data set for the batch that contains it, with its
// position, and again in every later call. When ctx ends, Next returns its cause and
// loses no batch. After an error the content of b is undefined.
func (s *Source) Next(ctx context.Context, b *Batch) error {
	if s.err != nil {
		return s.err
	}
	select {
	case <-s.closed:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	default:
	}
	if s.ahead != nil {
		return s.receive(ctx, b)
	}
	s.reader.next(&s.share)
	if s.err = s.reader.fill(b, &s.share); s.err != nil {
		return s.err
	}
	s.at = s.reader.at
	return nil
}

// receive exchanges b for the next prefetched batch.
func (s *Source) receive(ctx context.Context, b *Batch) error {
	p := s.ahead
	if p.waiting == nil {
		select {
		case <-s.closed:
			return ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		case p.waiting = <-p.full:
		}
	}
	select {
	case <-s.closed:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.waiting.done:
	}
	slot := p.waiting
	p.waiting = nil
	if s.err = slot.err; s.err != nil {
		return s.err
	}
	s.at = slot.after
	*b, slot.batch = slot.batch, *b
	p.free <- slot
	return nil
}

// Position returns the position after the last batch that Next has returned. Prefetched
// batches do not count.
func (s *Source) Position() Position { return s.at }

// Close stops the prefetch and makes Next return ErrClosed. It waits for a read in
// progress and does not close the data set. It may be called more than once and during
// Next.
func (s *Source) Close() error {
	s.close.Do(func() { close(s.closed) })
	if s.ahead != nil {
		s.ahead.wait.Wait()
	}
	return nil
}
