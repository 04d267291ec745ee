package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
)

// AllReduceConfig says what is measured. It must be the same on all ranks.
type AllReduceConfig struct {
	MinBytes, MaxBytes int         // of the buffer: MinBytes, and on by doubling up to MaxBytes
	Codec              codec.Codec // nil: none
	Iterations         int         // operations a size; 0: by size
	Link, Algorithm    string      // of the group, for the table
}

const (
	elementBytes = 4       // of a float32
	maxBytes     = 1 << 30 // the largest buffer
)

// Check tells all that is wrong with c, as exitcode.Usage.
func (c AllReduceConfig) Check() error {
	var errs []error
	if c.MaxBytes < elementBytes || c.MaxBytes > maxBytes {
		errs = append(errs, fmt.Errorf("max is %d bytes, want %d to %d", c.MaxBytes, elementBytes, maxBytes))
	}
	if c.MinBytes < 0 || c.MinBytes > c.MaxBytes {
		errs = append(errs, fmt.Errorf("min is %d bytes, want 0 to max, %d", c.MinBytes, c.MaxBytes))
	}
	if c.Iterations < 0 {
		errs = append(errs, fmt.Errorf("iterations are %d, want 0 or more", c.Iterations))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// AllReduce measures all-reduce over g for each size and calls each with the
// row, which is the same on every rank. All ranks call it with the same c, and
// none may stop before the others: an error of each ends this rank's part, and
// the caller must then end the group.
//
// Every element of every operation is compared with an oracle. Elements that
// are wrong are counted, on all ranks together, and are no error here. An error
// of the group is returned as it is, one of c as exitcode.Usage.
func AllReduce(ctx context.Context, g *ring.Group, c AllReduceConfig, each func(Row) error) error {
	if err := c.Check(); err != nil {
		return err
	}
	if c.Codec == nil {
		c.Codec = codec.None
	}
	m, err := newMeter(ctx, g, c)
	if err != nil {
		return err
	}
	for _, elements := range sizes(c.MinBytes, c.MaxBytes) {
		row, err := m.measure(ctx, elements)
		if err != nil {
			return err
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return nil
}

// sizes returns the lengths, in elements, of the buffers from least to most
// bytes, each twice as long as the one before.
func sizes(least, most int) []int {
	var lengths []int
	for n := max(least/elementBytes, 1); n <= most/elementBytes; n *= 2 {
		lengths = append(lengths, n)
	}
	return lengths
}

const (
	batchBytes = 16 << 20  // what the buffers of a batch have together, if they are more than one
	batchMost  = 64        // operations of a batch
	rowBytes   = 512 << 20 // what all operations of a row sum together, by default,
	leastTimes = 20        // if these are enough
	mostTimes  = 1000      // and not too many
)

// iterations returns how many operations are timed for buffers of so many bytes.
func (c AllReduceConfig) iterations(bytes int) int {
	if c.Iterations > 0 {
		return c.Iterations
	}
	return max(leastTimes, min(mostTimes, rowBytes/bytes))
}

// A meter runs the operations of one rank.
type meter struct {
	g       *ring.Group
	c       AllReduceConfig
	oracle  *oracle
	arena   []float32   // the buffers of a batch, one after the other
	buffers [][]float32 // the same, cut
	times   []time.Duration
	seen    tally // of the running row
}

func newMeter(ctx context.Context, g *ring.Group, c AllReduceConfig) (*meter, error) {
	m := g.Membership()
	arena, err := g.Arena(ctx, max(c.MaxBytes, batchBytes)/elementBytes)
	if err != nil {
		return nil, err
	}
	return &meter{
		g: g, c: c,
		oracle: newOracle(m.Rank, m.Size(), c.Codec),
		arena:  arena,
	}, nil
}

// measure makes the row of one size.
func (m *meter) measure(ctx context.Context, elements int) (Row, error) {
	n := m.c.iterations(elementBytes * elements)
	batch := min(n, batchMost, len(m.arena)/elements)
	m.seen = tally{}
	if err := m.batch(ctx, elements, batch); err != nil { // warm-up
		return Row{}, err
	}
	for m.times = m.times[:0]; len(m.times) < n; {
		if err := m.batch(ctx, elements, min(batch, n-len(m.times))); err != nil {
			return Row{}, err
		}
	}
	slices.Sort(m.times)
	m.seen.Median, m.seen.P99 = percentile(m.times, 50), percentile(m.times, 99)
	all, err := m.seen.overRanks(ctx, m.g)
	if err != nil {
		return Row{}, err
	}
	return m.c.row(elements, m.g.Membership().Size(), all), nil
}

// batch fills n buffers, sums them back to back, appends the times, and checks
// the sums. Ranks that share a core do not fill or check while others sum.
func (m *meter) batch(ctx context.Context, elements, n int) error {
	buffers := m.fill(elements, n)
	if err := m.g.Barrier(ctx); err != nil {
		return err
	}
	for _, buf := range buffers {
		start := time.Now()
		if err := m.g.AllReduce(ctx, ring.Reduction{Buf: buf, Codec: m.c.Codec}); err != nil {
			return err
		}
		m.times = append(m.times, time.Since(start))
	}
	if err := m.g.Barrier(ctx); err != nil {
		return err
	}
	for _, buf := range buffers {
		m.oracle.check(&m.seen, buf)
	}
	return nil
}

// fill cuts n buffers out of the arena and fills them.
func (m *meter) fill(elements, n int) [][]float32 {
	m.buffers = m.buffers[:0]
	for buf := range slices.Chunk(m.arena[:n*elements], elements) {
		m.oracle.fill(buf)
		m.buffers = append(m.buffers, buf)
	}
	return m.buffers
}
