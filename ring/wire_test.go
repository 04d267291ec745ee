package ring_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/ringtest"
)

// TestOverlap compares two sums bit for bit: that of hosts whose drivers sum in memory while
// they send, and that of one worker on each host that begins with its host's sum. It verifies
// that each segment is summed once, before it is sent, that it reaches all workers, and that
// bits and residuals do not depend on the timing.
func TestOverlap(t *testing.T) {
	for _, hosts := range [][]int{{0, 0, 1, 1}, {0, 0, 0, 1}, {1, 0, 0, 1, 2, 2, 2}} {
		for _, c := range []codec.Codec{nil, codec.Int8, codec.BF16} {
			for _, lossless := range []codec.Compressor{nil, codec.NewZstd()} {
				for _, n := range []int{2049, 20_011} { // the caller's goroutine sends; the sender's goroutine sends
					t.Run(fmt.Sprintf("hosts=%v/codec=%v/lossless=%v/n=%d", hosts, c, lossless, n), func(t *testing.T) {
						cfg := ringAlone(t)
						cfg.Lossless = lossless
						testOverlap(t, hosts, n, cfg, c)
					})
				}
			}
		}
	}
}

func testOverlap(t *testing.T, hosts []int, n int, cfg ring.Config, c codec.Codec) {
	ranks := ringtest.OnHosts(hosts, 0).HostRanks()
	drivers := len(ranks[0])
	for _, r := range ranks {
		drivers = min(drivers, len(r))
	}
	in := inputs(len(hosts), n)
	results, lost := make([][]float32, len(hosts)), make([][]float32, len(hosts))
	ringtest.RunOnHosts(t, hosts, cfg, func(g *ring.Group) error {
		rank := g.Membership().Rank
		buf, err := g.Arena(t.Context(), n)
		if err != nil {
			return err
		}
		lost[rank] = make([]float32, n)
		for range 2 { // the second time with a residual
			copy(buf, in[rank])
			r := ring.Reduction{Buf: buf, Residual: lost[rank], Codec: c, Tails: make([]byte, len(hosts)*ring.TailBytes)}
			if err := g.AllReduce(t.Context(), r); err != nil {
				return err
			}
		}
		results[rank] = slices.Clone(buf)
		return nil
	})
	if t.Failed() {
		return
	}
	lines := (n + 15) / 16
	for d, lo := 0, 0; d < drivers; d++ {
		hi := min(lo+16*((lines+drivers-1-d)/drivers), n)
		sum, left := sumOfHosts(t, ranks, in, span{lo, hi}, cfg, c)
		for rank := range hosts {
			sameBits(t, fmt.Sprintf("rank %d: shard %d", rank, d), results[rank][lo:hi], sum)
		}
		for h, r := range ranks {
			sameBits(t, fmt.Sprintf("residual of driver %d of host %d", d, h), lost[r[d]][lo:hi], left[h])
		}
		lo = hi
	}
}

type span struct{ lo, hi int }

// sumOfHosts sums a shard, twice, with one worker a host, and returns the sum and
// the residuals by host.
func sumOfHosts(t *testing.T, ranks [][]int, in [][]float32, s span, cfg ring.Config, c codec.Codec) (sum []float32, lost [][]float32) {
	lost = make([][]float32, len(ranks))
	ringtest.Run(t, len(ranks), cfg, func(g *ring.Group) error {
		h := g.Membership().Rank
		local := slices.Clone(in[ranks[h][0]][s.lo:s.hi])
		for _, r := range ranks[h][1:] {
			for i, v := range in[r][s.lo:s.hi] {
				local[i] += v
			}
		}
		lost[h] = make([]float32, len(local))
		var buf []float32
		for range 2 {
			buf = slices.Clone(local)
			if err := g.AllReduce(t.Context(), ring.Reduction{Buf: buf, Residual: lost[h], Codec: c}); err != nil {
				return err
			}
		}
		if h == 0 {
			sum = buf
		}
		return nil
	})
	return sum, lost
}

// reluctant is a link that takes its time to close.
type reluctant struct {
	ring.Link
	once *sync.Once
}

func (r reluctant) Close() error {
	r.once.Do(func() { time.Sleep(faultTimeout) })
	return r.Link.Close()
}

// TestCloseAcross verifies that a driver closes its links between hosts at the same time as
// those of all ranks: where no neighbour answers, closing them in turn would take twice as
// long.
func TestCloseAcross(t *testing.T) {
	hosts := []int{0, 0, 1, 1}
	synctest.Test(t, func(t *testing.T) {
		over := ringtest.HostTransports(hosts)
		for rank := range hosts {
			over[rank].Ring = reluctant{over[rank].Ring, new(sync.Once)}
			over[rank].Across.Ring = reluctant{over[rank].Across.Ring, new(sync.Once)}
		}
		start := time.Now()
		ringtest.RunOnHostsOver(t, hosts, over, faulty(), func(g *ring.Group) error { return g.Close() })
		if took := time.Since(start); took != faultTimeout {
			t.Errorf("took %v, want %v", took, faultTimeout)
		}
	})
}
