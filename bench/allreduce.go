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

// AllReduceConfig configures a measurement. It must be the same on all ranks.
type AllReduceConfig struct {
	Sizes      []int         // of the buffer, in bytes, in order of measurement; see SizesFrom
	Codecs     []codec.Codec // measured for each size; empty means codec none
	Iterations int           // timed operations per row, in place and again out of place; 0: chosen by size
	Budget     time.Duration // if not 0, the time for a row's operations; replaces the choice by size
	BatchBytes int           // total size of the buffers of a batch; 0: 16 MiB
	InPlace    bool          // measure in place only
	Link       string        // name of the group's link, for the table
	Before     int64         // Footprint of this process before it made the group; 0: do not measure memory
}

// ElementBytes is the size of an element of a buffer, a float32.
const ElementBytes = 4

const (
	maxBytes = 1 << 30 // the largest buffer, and the largest batch
)

// Check returns all errors of c, as exitcode.Usage.
func (c AllReduceConfig) Check() error {
	var errs []error
	errs = append(errs, checkSizes(c.Sizes))
	if c.Iterations < 0 {
		errs = append(errs, fmt.Errorf("--iters is %d, want 0 or more", c.Iterations))
	}
	if c.Budget < 0 {
		errs = append(errs, fmt.Errorf("--budget is %v, want 0 or more", c.Budget))
	}
	if c.BatchBytes < 0 || c.BatchBytes > maxBytes {
		errs = append(errs, fmt.Errorf("--batch is %d bytes, want 0 to %d", c.BatchBytes, maxBytes))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

func checkSizes(sizes []int) error {
	if len(sizes) == 0 {
		return errors.New("sizes are missing, want one or more")
	}
	for _, n := range sizes {
		if n < ElementBytes || n > maxBytes || n%ElementBytes != 0 {
			return fmt.Errorf("--sizes has %d bytes, want %d to %d, in whole float32", n, ElementBytes, maxBytes)
		}
	}
	return nil
}

// SizesFrom returns the sizes least, least·times, least·times², … up to most, in bytes,
// in whole elements.
func SizesFrom(least, most, times int) []int {
	var sizes []int
	for n := max(least/ElementBytes, 1) * ElementBytes; n <= most; n *= times {
		sizes = append(sizes, n)
	}
	return sizes
}

// AllReduce measures all-reduce over g for each size and codec, and calls each with the
// row, which is equal on all ranks. All ranks must call AllReduce with the same c. An
// error of each ends the measurement on this rank only; the caller must then end the
// group.
//
// AllReduce compares every element of every operation with an oracle. The row counts the
// wrong elements of all ranks. AllReduce returns errors of the group unchanged, and
// errors of c as exitcode.Usage.
//
// If the group has no wire, no codec is used, and all rows have codec none. AllReduce
// returns the memory of the group.
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
			m.allocated, m.sums = 0, 0 // do not count the first size: it warms up
		}
		for _, o := range m.oracles {
			row, err := m.measure(ctx, o, bytes/ElementBytes)
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
	batchBytes   = 16 << 20  // total size of a batch of several buffers
	batchMost    = 64        // maximum operations of a batch
	rowBytes     = 512 << 20 // total bytes of a row's operations by default,
	leastTimes   = 20        // but at least this many operations
	mostTimes    = 1000      // and at most this many
	budgetMost   = 1 << 14   // maximum operations of a row for any budget
	hurriedTimes = 3         // minimum operations of a row for any budget
)

// iterations returns the number of timed operations of a row, in place and again out of
// place, for a buffer size and the time of one operation.
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

// A meter runs and measures the operations of one rank.
type meter struct {
	g          *ring.Group
	c          AllReduceConfig
	oracles    []*oracle.Oracle // by codec
	source     []float32        // input of out-of-place sums
	arena      []float32        // the buffers of a batch, contiguous
	buffers    [][]float32      // slices of arena
	inPlace    []time.Duration
	outOfPlace []time.Duration
	seen       tally // of the current row
	sent       int64 // bytes sent by the sums of the current row
	between    int64 // part of sent that left the host
	growth     int64 // bytes by which the group grew the process before newMeter
	base       int64 // footprint of the process after newMeter, in bytes

	stats     runtime.MemStats // a field, because a local variable would escape to the heap
	allocated uint64           // heap allocations during timed sums
	sums      int              // timed sums
}

func newMeter(ctx context.Context, g *ring.Group, c AllReduceConfig) (*meter, error) {
	m := &meter{g: g, c: c, inPlace: make([]time.Duration, 0, budgetMost), outOfPlace: make([]time.Duration, 0, budgetMost)}
	if c.Before > 0 {
		m.growth = Footprint() - c.Before
	}
	members := g.Membership()
	for _, cd := range c.Codecs {
		m.oracles = append(m.oracles, oracle.New(members.Rank, members.Size(), cd))
	}
	largest := slices.Max(c.Sizes)
	if !c.InPlace {
		m.source = make([]float32, largest/ElementBytes)
		m.oracles[0].Fill(m.source)
	}
	if c.Before > 0 {
		m.base = Footprint()
	}
	var err error
	m.arena, err = g.Arena(ctx, max(largest, c.batchBytes())/ElementBytes)
	if err != nil {
		return nil, err
	}
	m.oracles[0].Fill(m.arena) // touch all pages
	return m, nil
}

func (c AllReduceConfig) batchBytes() int {
	if c.BatchBytes > 0 {
		return c.BatchBytes
	}
	return batchBytes
}

// measure makes the row of one size and codec. It alternates in-place and out-of-place
// batches.
func (m *meter) measure(ctx context.Context, o *oracle.Oracle, elements int) (Row, error) {
	m.seen, m.inPlace, m.outOfPlace = tally{}, m.inPlace[:0], m.outOfPlace[:0]
	n, err := m.warmUp(ctx, o, elements)
	if err != nil {
		return Row{}, err
	}
	m.sent, m.between = 0, 0
	for len(m.inPlace) < n {
		k := min(m.batchLen(elements), n-len(m.inPlace))
		err := m.sum(ctx, o, elements, k, true)
		if err == nil && !m.c.InPlace {
			err = m.sum(ctx, o, elements, k, false)
		}
		if err != nil {
			return Row{}, err
		}
	}
	sums := int64(len(m.inPlace) + len(m.outOfPlace))
	m.seen.Sent, m.seen.Between = m.sent/sums, m.between/sums
	m.seen.ofTimes(m.inPlace, m.outOfPlace)
	all, err := m.seen.overRanks(ctx, m.g)
	if err != nil {
		return Row{}, err
	}
	row := m.c.row(o.Codec, elements, m.g.Membership().Size(), all)
	row.Algorithm = algorithm(m.g, row.Bytes, o.Codec)
	return row, nil
}

// algorithm names the algorithm by which g sums a buffer: over links, in the memory of a
// host, or both.
func algorithm(g *ring.Group, bytes int, cd codec.Codec) string {
	switch g.Levels() {
	case "host":
		return "memory"
	case "two":
		return "memory+links"
	}
	return g.Algorithm(bytes, cd).String()
}

// warmUp runs checked but untimed operations. It returns the number of operations to
// time, which is equal on all ranks.
func (m *meter) warmUp(ctx context.Context, o *oracle.Oracle, elements int) (int, error) {
	least := leastTimes
	if m.c.Budget > 0 {
		least = hurriedTimes // on a slow wire the warm-up may take the whole budget
	}
	n := min(least, m.c.iterations(ElementBytes*elements, 0), m.batchLen(elements))
	allocated, sums := m.allocated, m.sums
	if err := m.sum(ctx, o, elements, n, true); err != nil {
		return 0, err
	}
	m.allocated, m.sums = allocated, sums // the group's scratch memory grew during the warm-up
	slices.Sort(m.inPlace)
	all, err := tally{Median: percentile(m.inPlace, 50)}.overRanks(ctx, m.g)
	m.inPlace = m.inPlace[:0]
	return m.c.iterations(ElementBytes*elements, all.Median), err
}

// batchLen returns the number of buffers of a batch.
func (m *meter) batchLen(elements int) int { return min(batchMost, len(m.arena)/elements) }

// sum sums n buffers back to back, appends the times, and checks the sums. In place it fills
// the buffers before; out of place it copies the source to each buffer, and the times include
// the copy. Barriers keep ranks on a shared core from filling or checking while others sum.
func (m *meter) sum(ctx context.Context, o *oracle.Oracle, elements, n int, inPlace bool) error {
	m.cut(elements, n)
	times := &m.outOfPlace
	if inPlace {
		times = &m.inPlace
		for _, buf := range m.buffers {
			o.Fill(buf)
		}
	}
	before := m.allocations()
	if err := m.g.Barrier(ctx); err != nil {
		return err
	}
	sent, between := m.g.SentBytes()
	for _, buf := range m.buffers {
		start := time.Now()
		if !inPlace {
			copy(buf, m.source)
		}
		if err := m.g.AllReduce(ctx, ring.Reduction{Buf: buf, Codec: o.Codec}); err != nil {
			return err
		}
		*times = append(*times, time.Since(start))
	}
	m.count(sent, between)
	if inPlace {
		m.allocated, m.sums = m.allocated+m.allocations()-before, m.sums+n
	}
	return m.check(ctx, o)
}

// allocations returns the number of heap allocations of this process.
func (m *meter) allocations() uint64 {
	runtime.ReadMemStats(&m.stats)
	return m.stats.Mallocs
}

// count adds the bytes that this rank has sent since sent and between were read.
func (m *meter) count(sent, between int64) {
	sentNow, betweenNow := m.g.SentBytes()
	m.sent, m.between = m.sent+sentNow-sent, m.between+betweenNow-between
}

// cut slices n buffers from the arena.
func (m *meter) cut(elements, n int) {
	m.buffers = m.buffers[:0]
	for buf := range slices.Chunk(m.arena[:n*elements], elements) {
		m.buffers = append(m.buffers, buf)
	}
}

// check compares all buffers with the oracle after all ranks have summed them.
func (m *meter) check(ctx context.Context, o *oracle.Oracle) error {
	if err := m.g.Barrier(ctx); err != nil {
		return err
	}
	for _, buf := range m.buffers {
		o.Check(&m.seen.Deviation, buf)
	}
	return nil
}
