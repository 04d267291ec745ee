package tcplink

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/ringtest"
)

// BenchmarkRowSum measures sums of rows between four hosts at 1 Gbit/s, as root, beside an
// all-reduce of as many bytes. The load is a click model with a batch of 4,000 and 39 ids of
// a million each. wire-ratio is the mean time of a step relative to the wire time of the host
// that sends most. ready-ratio is the median time in which all ranks are ready, from when the
// last rank begins to sum until the last one has the result, relative to the same wire time.
// bytes-ratio is that host's bytes relative to 3/4 of own and all rows with 8 bytes each.
func BenchmarkRowSum(b *testing.B) {
	f := newFlapping(b, ringtest.Hosts(b, 4, "1gbit"), "auto")
	b.Run("by=rows", func(b *testing.B) {
		var rows [4]int
		var union int
		most := f.measure(b, func(g *ring.Group) (func() error, error) {
			table, rank := ring.Table{Rows: 1 << 20, Width: 1}, g.Membership().Rank
			s, err := g.NewRowSum(b.Context(), []ring.Table{table})
			r, own := rand.New(rand.NewPCG(5, uint64(rank))), make([]uint32, 39_000)
			for i := range own {
				own[i] = r.Uint32N(table.Rows)
			}
			slices.Sort(own)
			own = slices.Compact(own)
			rows[rank] = len(own)
			tails := make([]byte, 4*ring.TailBytes)
			return func() error {
				ids, _ := s.Input(0, len(own))
				copy(ids, own)
				err := g.SumRows(b.Context(), s, nil, tails)
				if rank == 0 {
					union = s.Counts(0).Union
				}
				return err
			}, err
		})
		b.ReportMetric(most/(0.75*8*float64(slices.Min(rows[:])+union)), "bytes-ratio")
	})
	b.Run("by=all-reduce", func(b *testing.B) {
		f.measure(b, func(g *ring.Group) (func() error, error) {
			buf := make([]float32, 123_000)
			return func() error { return g.AllReduce(b.Context(), ring.Reduction{Buf: buf}) }, nil
		})
	})
}

// measure measures the function that open returns on each worker. It returns the bytes of
// the worker that sends most.
func (f *flapping) measure(b *testing.B, open func(g *ring.Group) (func() error, error)) (most float64) {
	sent := make([]int64, len(f.groups))
	begun, ended := make([][]time.Time, len(f.groups)), make([][]time.Time, len(f.groups))
	var all sync.WaitGroup
	for rank, g := range f.groups {
		all.Go(func() {
			step, err := open(g)
			begun[rank], ended[rank] = make([]time.Time, b.N+3), make([]time.Time, b.N+3)
			for i := 0; i < b.N+3 && err == nil; i++ {
				if i == 3 {
					_, sent[rank] = g.SentBytes()
					if rank == 0 {
						b.ResetTimer()
					}
				}
				begun[rank][i] = time.Now()
				err = step()
				ended[rank][i] = time.Now()
			}
			_, after := g.SentBytes()
			sent[rank] = after - sent[rank]
			if err != nil {
				b.Errorf("rank %d: %v", rank, err)
			}
		})
	}
	all.Wait()
	b.StopTimer()
	most = float64(slices.Max(sent)) / float64(b.N)
	wire := 8 * most / 1e9 // seconds
	b.ReportMetric(most, "sent-B/op")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/wire, "wire-ratio")
	ready := make([]float64, b.N)
	for i := range ready {
		ready[i] = latest(ended, i+3).Sub(latest(begun, i+3)).Seconds()
	}
	slices.Sort(ready)
	b.ReportMetric(ready[b.N/2]/wire, "ready-ratio")
	return most
}

// latest returns the latest time of a step over all ranks.
func latest(byRank [][]time.Time, step int) time.Time {
	var last time.Time
	for _, times := range byRank {
		if times[step].After(last) {
			last = times[step]
		}
	}
	return last
}
