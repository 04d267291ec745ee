package tcplink

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
)

// BenchmarkLink measures links between two ranks of this process. It compares pollSocket
// with the sockets of package net.
//
//	go test -run '^$' -bench Link -count 10 ./ring/link/tcplink | tee new.txt
//	benchstat -col /socket -filter '/crc:false' new.txt
func BenchmarkLink(b *testing.B) {
	for _, socketKind := range []string{"net", "own", "own+spin"} {
		for _, c := range []Config{{}, {PayloadCRC: true}} {
			b.Run(fmt.Sprintf("socket=%s/crc=%v", socketKind, c.PayloadCRC), func(b *testing.B) {
				bench(b, func(b *testing.B) []ring.Link { return duo(b, socketKind, c) })
			})
		}
	}
}

// duo returns the links of a ring of two ranks.
func duo(b *testing.B, socketKind string, c Config) []ring.Link {
	b.Helper()
	if socketKind == "own+spin" {
		c.Spin = DefaultSpin
	}
	ends := func(in, out net.Conn) (socket, net.Conn) {
		if socketKind == "net" {
			return &portableSocket{Conn: tune(out, 2)}, tune(in, 2)
		}
		return c.socket(out), c.readConn(in)
	}
	m := ring.Membership{Generation: linktest.Generation, Workers: make([]ring.Worker, 2)}
	in0, out1 := tcpPair(b)
	in1, out0 := tcpPair(b)
	in, out := []net.Conn{in0, in1}, []net.Conn{out0, out1}
	links := make([]ring.Link, 2)
	for rank := range links {
		m.Rank = rank
		s, source := ends(in[rank], out[rank])
		links[rank] = newLink(m, ring.Route{To: 1 - rank, From: 1 - rank}, s, source, c)
		b.Cleanup(func() { links[rank].Close() })
	}
	return links
}

// bench runs latency, and bandwidth for several frame sizes. open returns the two links of a
// ring of two.
func bench(b *testing.B, open func(b *testing.B) []ring.Link) {
	b.Run("measure=latency/bytes=8", func(b *testing.B) { latency(b, open(b)) })
	for _, n := range []int{4 << 10, 128 << 10, 512 << 10} {
		b.Run(fmt.Sprintf("measure=bandwidth/bytes=%d", n), func(b *testing.B) { bandwidth(b, open(b), n) })
	}
}

// latency measures the round trip of a small frame between two ranks of this process.
func latency(b *testing.B, links []ring.Link) {
	payload := make([]byte, 8)
	var echo sync.WaitGroup
	echo.Go(func() {
		into := make([]byte, 8)
		for i := range b.N {
			if _, err := links[1].Recv(b.Context(), into); err != nil {
				b.Error(err)
				return
			}
			if err := links[1].Send(b.Context(), data(uint64(i), payload)); err != nil {
				b.Error(err)
				return
			}
		}
	})
	into := make([]byte, 8)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if err := links[0].Send(b.Context(), data(uint64(i), payload)); err != nil {
			b.Fatal(err)
		}
		if _, err := links[0].Recv(b.Context(), into); err != nil {
			b.Fatal(err)
		}
	}
	echo.Wait()
}

// bandwidth measures frames with payloads of n bytes in one direction.
func bandwidth(b *testing.B, links []ring.Link, n int) {
	payload, into := make([]byte, n), make([]byte, n)
	b.SetBytes(int64(n))
	b.ReportAllocs()
	b.ResetTimer()
	var sending sync.WaitGroup
	sending.Go(func() {
		for i := range b.N {
			if err := links[0].Send(b.Context(), data(uint64(i), payload)); err != nil {
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
