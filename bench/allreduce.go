package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/oracle"
)

// AllReduceConfig says what is measured. It must be the same on all ranks.
type AllReduceConfig struct {
	Sizes      []int         // of the buffer, in bytes, in the order that they are measured; see SizesFrom
	Codecs     []codec.Codec // each size is measured with each; empty: none
	Iterations int           // timed operations of a row, in place and as many out of place; 0: by size
	Budget     time.Duration // instead of by size: as many as fit into it
	BatchBytes int           // buffers that are summed back to back have together; 0: 16 MiB
	InPlace    bool          // nothing is measured out of place
	Link       string        // of the group, for the table
	Streams    int           // likewise: connections of a ring to each neighbour; 0: the ring has none
	Before     int64         // this process's Footprint before it made the group; 0: not asked for
}

const (
	elementBytes = 4       // of a float32
	maxBytes     = 1 << 30 // the largest buffer, and the largest batch
)

// Check tells all that is wrong with c, as exitcode.Usage.
func (c AllReduceConfig) Check() error {
	var errs []error
	errs = append(errs, checkSizes(c.Sizes))
	if c.Iterations < 0 {
		errs = append(errs, fmt.Errorf("iterations are %d, want 0 or more", c.Iterations))
	}
	if c.Budget < 0 {
		errs = append(errs, fmt.Errorf("budget is %v, want 0 or more", c.Budget))
	}
	if c.BatchBytes < 0 || c.BatchBytes > maxBytes {
		errs = append(errs, fmt.Errorf("batch is %d bytes, want 0 to %d", c.BatchBytes, maxBytes))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

func checkSizes(sizes []int) error {
	if len(sizes) == 0 {
		return errors.New("sizes are missing, want one or more")
	}
	for _, n := range sizes {
		if n < elementBytes || n > maxBytes || n%elementBytes != 0 {
			return fmt.Errorf("size is %d bytes, want %d to %d, in whole float32", n, elementBytes, maxBytes)
		}
	}
	return nil
}

// SizesFrom returns least, in whole elements, and on by so many times up to
// most bytes.
func SizesFrom(least, most, times int) []int {
	var sizes []int
	for n := max(least/elementBytes, 1) * elementBytes; n <= most; n *= times {
		sizes = append(sizes, n)
	}
	return sizes
}

// AllReduce measures all-reduce over g for each size and codec, and calls each
// with the row, which is the same on every rank. All ranks call it with the
// same c, and none may stop before the others: an error of each ends this
// rank's part, and the caller must then end the group.
//
// Every element of every operation is compared with an oracle. Elements that
// are wrong are counted, on all ranks together, and are no error here. An error
// of the group is returned as it is, one of c as exitcode.Usage.
//
// Where there is no wire, and so no codec at work, the codec is none in all
// rows. It returns the memory that the group took.
func AllReduce(ctx context.Context, g *ring.Group, c AllReduceConfig, each func(Row) error) (Memory, error) {
	if err := c.Check(); err != nil {
		return Memory{}, err
	}
	if len(c.Codecs) == 0 || !g.Compresses() {
		c.Codecs = []codec.Codec{codec.None}
	}
	m, err := newMeter(ctx, g, c)
	if err != nil {
		return Memory{}, err
	}
	for i, bytes := range c.Sizes {
		if i == 1 {
			m.allocated, m.sums = 0, 0 // the first size warms up
		}
		for _, o := range m.oracles {
			row, err := m.measure(ctx, o, bytes/elementBytes)
			if err != nil {
				return Memory{}, err
			}
			if err := each(row); err != nil {
				return Memory{}, err
			}
		}
	}
	return m.memory(ctx)
}

const (
	batchBytes   = 16 << 20  // what the buffers of a batch have together, if they are more than one
	batchMost    = 64        // operations of a batch
	rowBytes     = 512 << 20 // what all operations of a row sum together, by default,
	leastTimes   = 20        // if these are enough
	mostTimes    = 1000      // and not too many
	budgetMost   = 1 << 14   // operations of a row, however large the budget
	hurriedTimes = 3         // operations of a row, however small the budget
)

// iterations returns how many operations of a row are timed in place, and as
// many out of place, for buffers of so many bytes, if one takes this long.
func (c AllReduceConfig) iterations(bytes int, one time.Duration) int {
	switch {
	case c.Iterations > 0:
		return c.Iterations
	case c.Budget > 0:
		if !c.InPlace {
			one *= 2
		}
		return max(hurriedTimes, min(budgetMost, int(c.Budget/max(one, time.Nanosecond))))
	}
	return max(leastTimes, min(mostTimes, rowBytes/bytes))
}

// A meter runs the operations of one rank.
type meter struct {
	g       *ring.Group
	c       AllReduceConfig
	oracles []*oracle.Oracle // one for each codec
	source  []float32        // what is summed out of place
	arena   []float32        // the buffers of a batch, one after the other
	buffers [][]float32      // the same, cut
	inPlace []time.Duration
	apart   []time.Duration // out of place
	seen    tally           // of the running row
	sent    int64           // bytes, in the sums of the running row
	between int64           // those of them that left the host
	growth  int64           // bytes that the process grew by for the group before the meter was made
	base    int64           // bytes of the process with all that is the meter's own

	stats     runtime.MemStats // here so that reading them allocates nothing
	allocated uint64           // on the heap while sums were timed
	sums      int              // that were timed
}

func newMeter(ctx context.Context, g *ring.Group, c AllReduceConfig) (*meter, error) {
	m := &meter{g: g, c: c, inPlace: make([]time.Duration, 0, budgetMost), apart: make([]time.Duration, 0, budgetMost)}
	if c.Before > 0 {
		m.growth = Footprint() - c.Before
	}
	members := g.Membership()
	for _, cd := range c.Codecs {
		m.oracles = append(m.oracles, oracle.New(members.Rank, members.Size(), cd))
	}
	largest := slices.Max(c.Sizes)
	if !c.InPlace {
		m.source = make([]float32, largest/elementBytes)
		m.oracles[0].Fill(m.source)
	}
	if c.Before > 0 {
		m.base = Footprint()
	}
	var err error
	m.arena, err = g.Arena(ctx, max(largest, c.batchBytes())/elementBytes)
	if err != nil {
		return nil, err
	}
	m.oracles[0].Fill(m.arena) // all of it is there from now on
	return m, nil
}

func (c AllReduceConfig) batchBytes() int {
	if c.BatchBytes > 0 {
		return c.BatchBytes
	}
	return batchBytes
}

// measure makes the row of one size and codec. Batches in place and out of
// place take turns.
func (m *meter) measure(ctx context.Context, o *oracle.Oracle, elements int) (Row, error) {
	m.seen, m.inPlace, m.apart = tally{}, m.inPlace[:0], m.apart[:0]
	n, err := m.warmUp(ctx, o, elements)
	if err != nil {
		return Row{}, err
	}
	m.sent, m.between = 0, 0
	for len(m.inPlace) < n {
		k := min(m.batchLen(elements), n-len(m.inPlace))
		err := m.sumInPlace(ctx, o, elements, k)
		if err == nil && !m.c.InPlace {
			err = m.sumApart(ctx, o, elements, k)
		}
		if err != nil {
			return Row{}, err
		}
	}
	sums := int64(len(m.inPlace) + len(m.apart))
	m.seen.Sent, m.seen.Between = m.sent/sums, m.between/sums
	m.seen.ofTimes(m.inPlace, m.apart)
	all, err := m.seen.overRanks(ctx, m.g)
	if err != nil {
		return Row{}, err
	}
	row := m.c.row(o.Codec, elements, m.g.Membership().Size(), all)
	row.Algorithm = algorithm(m.g, row.Bytes, o.Codec)
	return row, nil
}

// algorithm names the way in which g sums a buffer: over links, in the memory
// of a host, or both.
func algorithm(g *ring.Group, bytes int, cd codec.Codec) string {
	switch g.Levels() {
	case "host":
		return "memory"
	case "two":
		return "memory+links"
	}
	return g.Algorithm(bytes, cd).String()
}

// warmUp runs operations that are checked and not counted as timed, and returns
// how many are to be timed, the same number on all ranks.
func (m *meter) warmUp(ctx context.Context, o *oracle.Oracle, elements int) (int, error) {
	least := leastTimes
	if m.c.Budget > 0 {
		least = hurriedTimes // of a slow wire it may be the whole budget
	}
	n := min(least, m.c.iterations(elementBytes*elements, 0), m.batchLen(elements))
	allocated, sums := m.allocated, m.sums
	if err := m.sumInPlace(ctx, o, elements, n); err != nil {
		return 0, err
	}
	m.allocated, m.sums = allocated, sums // here the group's scratch grows
	slices.Sort(m.inPlace)
	all, err := tally{Median: percentile(m.inPlace, 50)}.overRanks(ctx, m.g)
	m.inPlace = m.inPlace[:0]
	return m.c.iterations(elementBytes*elements, all.Median), err
}

// batchLen is how many buffers a batch has.
func (m *meter) batchLen(elements int) int { return min(batchMost, len(m.arena)/elements) }

// sumInPlace fills n buffers, sums them back to back, appends the times, and
// checks the sums. Ranks that share a core do not fill or check while others
// sum.
func (m *meter) sumInPlace(ctx context.Context, o *oracle.Oracle, elements, n int) error {
	m.cut(elements, n)
	for _, buf := range m.buffers {
		o.Fill(buf)
	}
	before := m.allocations()
	if err := m.g.Barrier(ctx); err != nil {
		return err
	}
	sent, between := m.g.SentBytes()
	for _, buf := range m.buffers {
		start := time.Now()
		if err := m.g.AllReduce(ctx, ring.Reduction{Buf: buf, Codec: o.Codec}); err != nil {
			return err
		}
		m.inPlace = append(m.inPlace, time.Since(start))
	}
	m.count(sent, between)
	m.allocated, m.sums = m.allocated+m.allocations()-before, m.sums+n
	return m.check(ctx, o)
}

// allocations returns how many there have been in this process.
func (m *meter) allocations() uint64 {
	runtime.ReadMemStats(&m.stats)
	return m.stats.Mallocs
}

// sumApart does the same out of place: it copies the source to each buffer and
// sums it there, and both are in the times.
func (m *meter) sumApart(ctx context.Context, o *oracle.Oracle, elements, n int) error {
	m.cut(elements, n)
	if err := m.g.Barrier(ctx); err != nil {
		return err
	}
	sent, between := m.g.SentBytes()
	for _, buf := range m.buffers {
		start := time.Now()
		copy(buf, m.source)
		if err := m.g.AllReduce(ctx, ring.Reduction{Buf: buf, Codec: o.Codec}); err != nil {
			return err
		}
		m.apart = append(m.apart, time.Since(start))
	}
	m.count(sent, between)
	return m.check(ctx, o)
}

// count adds what this rank has sent since, in sums alone.
func (m *meter) count(sent, between int64) {
	sentNow, betweenNow := m.g.SentBytes()
	m.sent, m.between = m.sent+sentNow-sent, m.between+betweenNow-between
}

// cut cuts n buffers out of the arena.
func (m *meter) cut(elements, n int) {
	m.buffers = m.buffers[:0]
	for buf := range slices.Chunk(m.arena[:n*elements], elements) {
		m.buffers = append(m.buffers, buf)
	}
}

// check compares all buffers with the oracle, once all ranks have summed them.
func (m *meter) check(ctx context.Context, o *oracle.Oracle) error {
	if err := m.g.Barrier(ctx); err != nil {
		return err
	}
	for _, buf := range m.buffers {
		o.Check(&m.seen.Deviation, buf)
	}
	return nil
}
