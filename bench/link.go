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

// LinkConfig says which limits are measured. It must be the same on all ranks.
type LinkConfig struct {
	Sizes    []int         // of the buffers that are copied, in bytes
	Duration time.Duration // of the stream between neighbours; 0: 2 s
	Only     string        // copy, or stream; "": all
}

// Check tells all that is wrong with c, as exitcode.Usage.
func (c LinkConfig) Check() error {
	errs := []error{checkSizes(c.Sizes)}
	if c.Duration < 0 {
		errs = append(errs, fmt.Errorf("duration is %v, want 0 or more", c.Duration))
	}
	if !slices.Contains([]string{"", "copy", "stream"}, c.Only) {
		errs = append(errs, fmt.Errorf("only is %q, want copy or stream", c.Only))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// Limit is what the machine or the wire can do, against which collectives are
// held. Its JSON form is a line of bench link --json.
type Limit struct {
	What  string  `json:"what"`  // copy, stream or latency
	Bytes int     `json:"bytes"` // of the buffer that is copied, or of a message; 0: of a stream
	Ranks int     `json:"ranks"`
	Time  float64 `json:"time_s"`     // the slowest rank's
	Rate  float64 `json:"gb_s"`       // of the slowest rank: copied, or sent
	BusBW float64 `json:"busbw_gb_s"` // that no all-reduce can exceed that is bound by this
}

// Kind names the event.
func (Limit) Kind() string { return "limit" }

// LimitHeader is the head of the table that the lines of Limit.String make.
const LimitHeader = `#                                         slowest rank   limit of busbw
#  what           bytes  ranks         time         rate
#                                      (us)       (GB/s)           (GB/s)`

// String is one line of the table.
func (l Limit) String() string {
	return fmt.Sprintf("%-10s %12d %6d %12.1f %12.3f %16.3f", l.What, l.Bytes, l.Ranks, l.Time*1e6, l.Rate, l.BusBW)
}

// Link measures what all-reduce over g could do at best, and calls each with
// the results, which are the same on every rank. All ranks call it with the
// same c.
//
//	copy      all ranks copy a buffer of their own to another at the same time,
//	          each on a core of its own, as far as there are enough. All-reduce
//	          in shared memory reads a rank's share of all buffers and writes it
//	          back to all of them: as many bytes as a copy reads and writes. So it
//	          takes about as long, at best.
//	stream    all ranks send to their right neighbour over plain TCP, for the whole
//	          duration, of which the first quarter does not count: that is the
//	          burst that a shaper, and the sockets, let pass.
//	latency   8 bytes go around the ring over the same connections; the time of
//	          one hop.
//
// The connections of stream and latency are not authenticated beyond a number
// that the ranks tell each other through g, and carry nothing.
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
	copyTimes  = 200             // of each size at most
	copyMost   = 256 << 20       // bytes of a size in all, if that is fewer
	copyLeast  = 5               // but not fewer than this
	gigabyte   = 1e9             // as network people count
	streamTime = 2 * time.Second // by default
)

// copyLimits measures copies of all sizes.
func copyLimits(ctx context.Context, g *ring.Group, c LinkConfig, each func(Limit) error) error {
	local, _ := g.Membership().Local()
	defer pin(local)() // not for the wire: hosts that share this machine would share a core
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

// timeCopies returns the mean time of a copy, in seconds, back to back: other
// ranks copy all that time.
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
