package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// LinkConfig selects the limits to measure. It must be the same on all ranks.
type LinkConfig struct {
	Sizes    []int         // of the copied buffers, in bytes
	Duration time.Duration // of the stream between neighbours; 0: 2 s
	Only     string        // copy or stream; "" for all
}

// Check returns all errors of c, as exitcode.Usage.
func (c LinkConfig) Check() error {
	errs := []error{checkSizes(c.Sizes)}
	if c.Duration < 0 {
		errs = append(errs, fmt.Errorf("--duration is %v, want 0 or more", c.Duration))
	}
	if !slices.Contains([]string{"", "copy", "stream"}, c.Only) {
		errs = append(errs, fmt.Errorf("--only is %q, want copy or stream", c.Only))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// Limit is an upper bound of a collective's speed, set by the machine or the wire. Its
// JSON form is a line of bench link --json.
type Limit struct {
	What  string  `json:"what"`  // copy, stream or latency
	Bytes int     `json:"bytes"` // of the copied buffer or the message; 0 for a stream
	Ranks int     `json:"ranks"`
	Time  float64 `json:"time_s"`     // of the slowest rank
	Rate  float64 `json:"gb_s"`       // of the slowest rank: bytes copied or sent per time
	BusBW float64 `json:"busbw_gb_s"` // upper bound of busbw under this limit
}

// Kind names the event.
func (Limit) Kind() string { return "limit" }

// LimitHeader is the head of the table of Limit.String lines.
const LimitHeader = `#                                         slowest rank   limit of busbw
#  what           bytes  ranks         time         rate
#                                      (us)       (GB/s)           (GB/s)`

// String returns a line of the table.
func (l Limit) String() string {
	return fmt.Sprintf("%-10s %12d %6d %12.1f %12.3f %16.3f", l.What, l.Bytes, l.Ranks, l.Time*1e6, l.Rate, l.BusBW)
}

// Link measures upper bounds for all-reduce over g, and calls each with the results,
// which are equal on all ranks. All ranks must call Link with the same c.
//
//	copy      All ranks copy a buffer at the same time, each on its own core if
//	          there are enough cores. All-reduce in shared memory reads and
//	          writes as many bytes as such a copy, so it takes at least as long.
//	stream    All ranks send to their right neighbour over plain TCP. The first
//	          quarter of the duration does not count: it contains the burst of
//	          a shaper and of the socket buffers.
//	latency   8 bytes travel around the ring over the same connections. The
//	          result is the time of one hop.
//
// The connections of stream and latency carry no data. They are authenticated only by a
// number that the ranks exchange through g.
func Link(ctx context.Context, g *ring.Group, c LinkConfig, each func(Limit) error) error {
	if err := c.Check(); err != nil {
		return err
	}
	if c.Only != "stream" {
		if err := copyLimits(ctx, g, c, each); err != nil {
			return err
		}
	}
	if c.Only == "copy" || g.Membership().Size() == 1 {
		return nil
	}
	w, err := openWire(ctx, g)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.streamLimit(ctx, g, c, each); err != nil || c.Only != "" {
		return err
	}
	return w.latencyLimit(ctx, g, each)
}

const (
	copyTimes  = 200             // maximum copies per size
	copyMost   = 256 << 20       // maximum bytes copied per size,
	copyLeast  = 5               // but at least this many copies
	gigabyte   = 1e9             // decimal, as in network rates
	streamTime = 2 * time.Second // default of Duration
)

// copyLimits measures copies of all sizes.
func copyLimits(ctx context.Context, g *ring.Group, c LinkConfig, each func(Limit) error) error {
	local, _ := g.Membership().Local()
	defer pin(local)() // not for the wire: hosts on this machine would share a core
	largestSize := slices.Max(c.Sizes)
	src, dst := make([]byte, largestSize), make([]byte, largestSize)
	for i := range src {
		src[i] = byte(i)
	}
	copy(dst, src)
	ranks := g.Membership().Size()
	for _, n := range c.Sizes {
		if err := g.Barrier(ctx); err != nil {
			return err
		}
		took := timeCopies(dst[:n], src[:n])
		slowest, err := largest(ctx, g, took)
		if err != nil {
			return err
		}
		rate := float64(n) / slowest / gigabyte
		if err := each(Limit{What: "copy", Bytes: n, Ranks: ranks, Time: slowest, Rate: rate, BusBW: BusBW(rate, ranks)}); err != nil {
			return err
		}
	}
	return nil
}

// timeCopies returns the mean time of a copy in seconds. It copies back to back, because
// other ranks copy at the same time.
func timeCopies(dst, src []byte) float64 {
	n := max(copyLeast, min(copyTimes, copyMost/len(src)))
	copy(dst, src)
	start := time.Now()
	for range n {
		copy(dst, src)
	}
	return max(time.Since(start), 1).Seconds() / float64(n)
}

// largest returns the largest x of all ranks.
func largest(ctx context.Context, g *ring.Group, x float64) (float64, error) {
	var all ring.Gathered
	if err := g.AllGather(ctx, binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)), &all); err != nil {
		return 0, err
	}
	for rank := range g.Membership().Size() {
		x = max(x, math.Float64frombits(binary.LittleEndian.Uint64(all.At(rank))))
	}
	return x, nil
}
