package grpclink

import (
	"fmt"
	"sync"
	"testing"

	"ringtrain/ring"
)

// BenchmarkLink measures one direction of a link between two ranks of this
// process over loopback, frame after frame.
//
//	go test -bench Link -count 10 ./ring/link/grpclink | tee new.txt
//	benchstat -col /crc new.txt
func BenchmarkLink(b *testing.B) {
	for _, crc := range []bool{false, true} {
		for _, size := range []int{64, 4 << 10, 256 << 10, 512 << 10} {
			b.Run(fmt.Sprintf("crc=%v/bytes=%d", crc, size), func(b *testing.B) {
				links := openAll(b, 2, Config{PayloadCRC: crc})
				payload, into := make([]byte, size), make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				b.ResetTimer()
				var wg sync.WaitGroup
				wg.Go(func() {
					for i := range b.N {
						f := ring.Frame{Kind: ring.KindData, Generation: 3, Op: uint64(i), Payload: payload}
						if err := links[0].Send(b.Context(), f); err != nil {
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
				wg.Wait()
			})
		}
	}
}

// BenchmarkPingPong measures the time of a small frame around a ring of two.
func BenchmarkPingPong(b *testing.B) {
	links := openAll(b, 2, Config{})
	var wg sync.WaitGroup
	f := ring.Frame{Kind: ring.KindData, Generation: 3, Payload: make([]byte, 64)}
	wg.Go(func() {
		into := make([]byte, 64)
		for range b.N {
			links[1].Recv(b.Context(), into)
			links[1].Send(b.Context(), f)
		}
	})
	into := make([]byte, 64)
	for range b.N {
		links[0].Send(b.Context(), f)
		if _, err := links[0].Recv(b.Context(), into); err != nil {
			b.Fatal(err)
		}
	}
	wg.Wait()
}
