package input

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"ringtrain/ring/exitcode"
)

// ErrClosed is what Next returns after Close.
var ErrClosed = errors.New("input: source is closed")

// SourceConfig says how a Source walks over its data. All ranks of a job have
// equal ones but for Rank, Prefetch and Readers.
type SourceConfig struct {
	Batch      int    // examples in a global batch, over all ranks
	Rank, Size int    // which rank's share of how many
	Shuffle    bool   // else the order of the files
	Seed       uint64 // of the order
	Prefetch   int    // batches read ahead by goroutines; 0: Next reads
	Readers    int    // of these goroutines; 0: one. Each more reads one batch more ahead

	// MaxBad is how many records may be bad. A bad record keeps its place, as an example
	// without features, with the label 0 and the weight 0: see Batch.Bad. It is the caller who
	// adds up, over all ranks, whether there are more. 0: a bad record is an error of Next.
	MaxBad int64

	// SumReduction gives every example the weight 1. Without it the weight is
	// 1 / Batch.Global: the sum over all ranks is then the mean.
	SumReduction bool
}

// Source hands out one rank's shares of global batches, for ever, epoch after
// epoch. One goroutine at a time may use it, but for Close.
type Source struct {
	reader reader
	ahead  *prefetch // nil: Next reads
	share  share     // then that of Next
	at     Position
	err    error // the first one of Next, which cannot be passed
	closed chan struct{}
	close  sync.Once
}

// NewSource starts a walk over d at a position; the zero Position is the
// beginning. It returns an error if d is empty (exitcode.BadData), if the
// position lies outside the data (exitcode.BadData), or if Batch or Prefetch is
// out of range (exitcode.Usage). d stays the caller's, to be closed after the
// Source. NewSource panics if c.Rank is not in [0, c.Size).
func NewSource(d Dataset, c SourceConfig, at Position) (*Source, error) {
	Share(0, c.Rank, c.Size)
	if err := c.check(); err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	if d.Len() == 0 {
		return nil, exitcode.With(exitcode.BadData, errors.New("input: the data set has no records"))
	}
	if err := at.check(d.Len()); err != nil {
		return nil, err
	}
	at = at.wrap(d.Len())
	s := &Source{at: at, closed: make(chan struct{})}
	s.reader = reader{data: d, config: c, at: at}
	s.reader.enter(at.Epoch)
	if c.MaxBad > 0 {
		var err error
		if s.reader.shape, err = LearnShape(d, c.MaxBad); err != nil {
			return nil, err
		}
	}
	if c.Prefetch > 0 {
		s.ahead = startPrefetch(&s.reader, c.Prefetch, max(c.Readers, 1), s.closed)
	}
	return s, nil
}

func (c SourceConfig) check() error {
	var faults []error
	if c.Batch < 1 {
		faults = append(faults, fmt.Errorf("input.batch is %d, want 1 or more", c.Batch))
	}
	if c.Prefetch < 0 {
		faults = append(faults, fmt.Errorf("input.prefetch is %d, want 0 or more", c.Prefetch))
	}
	if c.MaxBad < 0 {
		faults = append(faults, fmt.Errorf("input.max_bad_records is %d, want 0 or more", c.MaxBad))
	}
	return errors.Join(faults...)
}

// Next replaces b by this rank's share of the next global batch. The last batch
// of an epoch is short, and a share may be empty: b then has no examples, but
// Epoch, Offset and Global as on every rank. The buffers of b are exchanged for
// others of the Source, so nothing is allocated once they have grown.
//
// An error of the data set comes when its batch is due, names the place and is
// returned by every later call. When ctx ends, Next returns its cause and no
// batch is lost. After an error b has no meaning.
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

// receive exchanges b for the next batch that was read ahead.
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

// Position returns the place after the batch that Next returned last. Batches
// that were read ahead do not count.
func (s *Source) Position() Position { return s.at }

// StepsPerEpoch returns the number of global batches in an epoch.
func (s *Source) StepsPerEpoch() int64 {
	n, batch := int64(s.reader.data.Len()), int64(s.reader.config.Batch)
	return (n-1)/batch + 1
}

// Close ends the reading ahead and makes Next return ErrClosed. It waits for a
// read under way, and does not close the data set. It may be called more than
// once, and while Next waits.
func (s *Source) Close() error {
	s.close.Do(func() { close(s.closed) })
	if s.ahead != nil {
		s.ahead.wait.Wait()
	}
	return nil
}
