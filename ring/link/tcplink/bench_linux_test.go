package tcplink

import (
	"fmt"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
)

// BenchmarkLink measures links between two ranks of this process, over sockets
// of our own and over those of package net.
//
//	go test -run '^$' -bench Link -count 10 ./ring/link/tcplink | tee new.txt
//	benchstat -col /socket -filter '/crc:false' new.txt
func BenchmarkLink(b *testing.B) {
	for _, socketKind := range []string{"net", "raw", "raw+spin"} {
		for _, crc := range []bool{false, true} {
			b.Run(fmt.Sprintf("socket=%s/crc=%v", socketKind, crc), func(b *testing.B) {
				linktest.Bench(b, func(b *testing.B) []ring.Link { return pair(b, socketKind, crc) })
			})
		}
	}
}

// pair returns the links of a ring of two.
func pair(b *testing.B, socketKind string, crc bool) []ring.Link {
	b.Helper()
	var c Config
	if socketKind == "raw+spin" {
		c.Spin = DefaultSpin
	}
	end := func(conn socket) socket {
		if r, ok := conn.(*raw); ok && socketKind == "net" {
			return &portable{Conn: r.TCPConn}
		}
		return conn
	}
	m := ring.Membership{Generation: linktest.Generation, Workers: make([]ring.Worker, 2)}
	in0, out1 := tcpPair(b)
	in1, out0 := tcpPair(b)
	in, out := []socket{c.socket(in0, c.Spin), c.socket(in1, c.Spin)}, []socket{c.socket(out0, 0), c.socket(out1, 0)}
	links := make([]ring.Link, 2)
	for rank := range links {
		m.Rank = rank
		links[rank] = newLink(m, ring.Route{To: 1 - rank, From: 1 - rank}, end(out[rank]), end(in[rank]), crc)
		b.Cleanup(func() { links[rank].Close() })
	}
	return links
}
