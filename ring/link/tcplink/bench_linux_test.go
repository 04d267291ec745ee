package tcplink

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ringtrain/ring"
)

// BenchmarkLink measures links between two ranks of this process over loopback: in clear as within a
// host, in clear with CRCs, and with TLS.
//
//	go test -run '^$' -bench Link -count 10 ./ring/link/tcplink | tee new.txt
//	benchstat -col /security new.txt
func BenchmarkLink(b *testing.B) {
	for _, how := range []mode{local, auth, tls} {
		b.Run("security="+how.name, func(b *testing.B) {
			bench(b, func(b *testing.B) []ring.Link { return openRing(b, 2, how) })
		})
	}
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

// bandwidth measures frames with payloads of n bytes in one direction, and the CPU time of both ends for
// each GiB.
func bandwidth(b *testing.B, links []ring.Link, n int) {
	payload, into := make([]byte, n), make([]byte, n)
	b.SetBytes(int64(n))
	b.ReportAllocs()
	b.ResetTimer()
	before := cpuTime(b)
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
	b.ReportMetric((cpuTime(b)-before).Seconds()*(1<<30)/(float64(n)*float64(b.N)), "cpu-s/GiB")
}

// cpuTime returns the CPU time of this process so far.
func cpuTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
