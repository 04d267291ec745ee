package ring_test

import (
	"fmt"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/ringtest"
)

// BenchmarkAllReduce measures one all-reduce among ranks of one process over links in memory:
// the cost of the ring without the network. Names are key=value, so benchstat can group by any
// key:
//
//	go test -bench AllReduce -count 10 ./ring | tee new.txt
//	benchstat -col /codec -filter '.unit:(busbw-B/s)' new.txt
func BenchmarkAllReduce(b *testing.B) {
	for _, c := range codec.All() {
		for _, p := range []int{2, 4} {
			for _, bytes := range []int{8 << 10, 8 << 20} {
				b.Run(fmt.Sprintf("codec=%v/world=%d/bytes=%d", c, p, bytes), func(b *testing.B) {
					benchmarkAllReduce(b, p, bytes, c)
				})
			}
		}
	}
}

func benchmarkAllReduce(b *testing.B, p, bytes int, c codec.Codec) {
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	ringtest.Run(b, p, ring.DefaultConfig(), func(g *ring.Group) error {
		return repeatAllReduce(b, g, bytes, c)
	})
	algbw := float64(bytes) * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(algbw*2*float64(p-1)/float64(p), "busbw-B/s")
}

// BenchmarkAllReduceOnHosts measures one all-reduce on two levels among four ranks on two hosts,
// over links and memory of one process.
func BenchmarkAllReduceOnHosts(b *testing.B) {
	hosts := []int{0, 0, 1, 1}
	for _, bytes := range []int{8, 8 << 10, 128 << 10, 8 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", bytes), func(b *testing.B) {
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			ringtest.RunOnHosts(b, hosts, ring.DefaultConfig(), func(g *ring.Group) error {
				return repeatAllReduce(b, g, bytes, nil)
			})
		})
	}
}

// repeatAllReduce runs b.N all-reduces after one that does not count.
func repeatAllReduce(b *testing.B, g *ring.Group, bytes int, c codec.Codec) error {
	buf, err := g.Arena(b.Context(), bytes/4)
	if err != nil {
		return err
	}
	r := ring.Reduction{Buf: buf, Codec: c}
	for i := range r.Buf {
		r.Buf[i] = float32(i%100) * 0x1p-20
	}
	for i := range b.N + 1 {
		if i == 1 && g.Membership().Rank == 0 {
			b.ResetTimer()
		}
		if err := g.AllReduce(b.Context(), r); err != nil {
			return err
		}
	}
	return nil
}
