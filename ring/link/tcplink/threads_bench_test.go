package tcplink

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/ringtest"
)

// BenchmarkThreads sums 512 KiB between two ranks of this process, beside a goroutine that
// computes as backward does, with several thread counts. It justifies ring.LeastThreads.
func BenchmarkThreads(b *testing.B) {
	for _, threads := range []int{1, 2, 3, 4} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
			groups := make([]*ring.Group, 2)
			for rank, link := range openRing(b, 2, local.spinning(100)) {
				g, err := ring.New(b.Context(), ringtest.Membership(2, rank), ring.Transport{Ring: link}, ring.DefaultConfig())
				if err != nil {
					b.Fatal(err)
				}
				defer g.Close()
				groups[rank] = g
			}
			runtime.GOMAXPROCS(threads) // after New, which raises it
			var over atomic.Bool
			computed := make(chan float64)
			go func() {
				x := 1.0
				for !over.Load() {
					for range 1 << 20 {
						x = math.Sqrt(x + 1)
					}
				}
				computed <- x
			}()
			sums := make(chan error, 2)
			for _, g := range groups {
				go func() {
					buf := make([]float32, 128<<10)
					for range b.N {
						if err := g.AllReduce(b.Context(), ring.Reduction{Buf: buf}); err != nil {
							sums <- err
							return
						}
					}
					sums <- nil
				}()
			}
			for range groups {
				if err := <-sums; err != nil {
					b.Error(err)
				}
			}
			over.Store(true)
			<-computed
		})
	}
}
