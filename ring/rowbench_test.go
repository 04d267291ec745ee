package ring_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// BenchmarkRowSum measures sums of rows as click models have them, 78,000 ids a rank out of a
// million, beside the all-reduce of the whole table and a copy of the result:
//
//	go test -bench RowSum -count 10 ./ring | tee new.txt
//	benchstat -col /by -filter '.unit:(sec/op)' new.txt
func BenchmarkRowSum(b *testing.B) {
	for _, width := range []int{1, 9} {
		for _, hosts := range [][]int{{0, 0}, {0, 1}, {0, 1, 2, 3}} {
			for _, rows := range []int{78_000, 1_000_000} {
				table := ring.Table{Rows: 1_000_000, Width: width}
				name := fmt.Sprintf("width=%d/hosts=%d/ranks=%d/ids=%d", width, hosts[len(hosts)-1]+1, len(hosts), rows)
				b.Run(name+"/by=rows", func(b *testing.B) { benchmarkRowSum(b, hosts, table, rows) })
				b.Run(name+"/by=dense", func(b *testing.B) { benchmarkDenseTable(b, hosts, table) })
			}
		}
		b.Run(fmt.Sprintf("width=%d/by=copy", width), func(b *testing.B) {
			from, to := make([]float32, 150_000*(1+width)), make([]float32, 150_000*(1+width))
			b.SetBytes(int64(4 * len(from)))
			for b.Loop() {
				copy(to, from)
			}
		})
	}
}

// benchmarkRowSum measures steps with n ids drawn with replacement, so that somewhat fewer are
// distinct.
func benchmarkRowSum(b *testing.B, hosts []int, table ring.Table, n int) {
	all := make([]rows, len(hosts))
	for rank := range all {
		all[rank] = rowsOf(rand.New(rand.NewPCG(3, uint64(rank))), table, n)
	}
	b.ReportAllocs()
	onHosts(b, hosts, func(g *ring.Group) error {
		s, err := g.NewRowSum(b.Context(), []ring.Table{table})
		if err != nil {
			return err
		}
		rank := g.Membership().Rank
		tails := make([]byte, len(hosts)*ring.TailBytes)
		var before int64
		for i := range b.N + 3 {
			ids, values := s.Input(0, len(all[rank].ids))
			if i < 3 {
				copy(ids, all[rank].ids)
				copy(values, all[rank].values)
			}
			if i == 3 && rank == 0 {
				_, before = g.SentBytes()
				b.ResetTimer()
			}
			if err := g.SumRows(b.Context(), s, nil, tails); err != nil {
				return err
			}
		}
		if rank == 0 {
			b.StopTimer()
			_, sent := g.SentBytes()
			c := s.Counts(0)
			b.ReportMetric(float64(sent-before)/float64(b.N), "sent-B/op")
			b.ReportMetric(float64(c.Union), "union")
		}
		return nil
	})
}

// benchmarkDenseTable measures the all-reduce of the whole table.
func benchmarkDenseTable(b *testing.B, hosts []int, table ring.Table) {
	onHosts(b, hosts, func(g *ring.Group) error {
		buf, err := g.Arena(b.Context(), int(table.Rows)*table.Width)
		if err != nil {
			return err
		}
		for i := range b.N + 1 {
			if i == 1 && g.Membership().Rank == 0 {
				b.ResetTimer()
			}
			if err := g.AllReduce(b.Context(), ring.Reduction{Buf: buf}); err != nil {
				return err
			}
		}
		return nil
	})
}

// onHosts runs fn on the workers of hosts. Workers that are each alone on their host also have
// links of rounds.
func onHosts(b *testing.B, hosts []int, fn func(g *ring.Group) error) {
	if hosts[len(hosts)-1] == len(hosts)-1 && len(hosts) > 1 {
		overMesh(b, memlink.Mesh(len(hosts)), ring.DefaultConfig(), fn)
		return
	}
	ringtest.RunOnHosts(b, hosts, ring.DefaultConfig(), fn)
}
