package linktest

import (
	"fmt"
	"sync"
	"testing"

	"ringtrain/ring"
)

// Latency measures the round trip of a small frame between two ranks of this process.
func Latency(b *testing.B, links []ring.Link) {
	payload := make([]byte, 8)
	var echo sync.WaitGroup
	echo.Go(func() {
		into := make([]byte, 8)
		for i := range b.N {
			if _, err := links[1].Recv(b.Context(), into); err != nil {
				b.Error(err)
				return
			}
			if err := links[1].Send(b.Context(), data(uint64(i), 0, payload)); err != nil {
				b.Error(err)
				return
			}
		}
	})
	into := make([]byte, 8)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if err := links[0].Send(b.Context(), data(uint64(i), 0, payload)); err != nil {
			b.Fatal(err)
		}
		if _, err := links[0].Recv(b.Context(), into); err != nil {
			b.Fatal(err)
		}
	}
	echo.Wait()
}

// Bandwidth measures frames with payloads of n bytes in one direction.
func Bandwidth(b *testing.B, links []ring.Link, n int) {
	payload, into := make([]byte, n), make([]byte, n)
	b.SetBytes(int64(n))
	b.ReportAllocs()
	b.ResetTimer()
	var sending sync.WaitGroup
	sending.Go(func() {
		for i := range b.N {
			if err := links[0].Send(b.Context(), data(uint64(i), 0, payload)); err != nil {
				b.Error(err)
				return
			}
		}
	})
	for range b.N {
		if _, err := links[1].Recv(b.Context(), into); err != nil {
			b.Fatal(err)
		}
	}
	sending.Wait()
}

// Bench runs Latency, and Bandwidth for several frame sizes. open returns the two links of a
// ring of two.
func Bench(b *testing.B, open func(b *testing.B) []ring.Link) {
	b.Run("measure=latency/bytes=8", func(b *testing.B) { Latency(b, open(b)) })
	for _, n := range []int{4 << 10, 128 << 10, 512 << 10} {
		b.Run(fmt.Sprintf("measure=bandwidth/bytes=%d", n), func(b *testing.B) { Bandwidth(b, open(b), n) })
	}
}
