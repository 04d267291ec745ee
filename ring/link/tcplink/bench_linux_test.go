package tcplink

import (
	"fmt"
	"net"
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
				linktest.Bench(b, func(b *testing.B) []ring.Link { return duo(b, socketKind, c) })
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
