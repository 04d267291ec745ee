package grpclink

import (
	"fmt"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
)

// TestConformance fails if links over loopback are not what package ring takes
// a link for.
func TestConformance(t *testing.T) {
	for _, crc := range []bool{false, true} {
		t.Run(fmt.Sprintf("crc=%v", crc), func(t *testing.T) {
			c := Config{PayloadCRC: crc}
			linktest.Run(t, func(t *testing.T, p int) []ring.Link { return openRing(t, p, c) })
			linktest.Routes(t, func(t *testing.T, routes [][]ring.Route) [][]ring.Link {
				return linktest.Open(t, &network{config: c}, routes)
			})
		})
	}
}

// TestHandshake fails if workers do not find each other, or strangers get in.
func TestHandshake(t *testing.T) {
	linktest.Handshake(t, func() linktest.Network { return &network{} })
}

// TestFaults fails if what a neighbour does wrong is not refused in its name.
func TestFaults(t *testing.T) {
	linktest.Faults(t, func(t *testing.T) linktest.Stage {
		s, _, right := stage(t)
		go takeAll(right)
		return s
	})
}

// takeAll reads what the link sends, so that its Close need not wait.
func takeAll(right *incoming) {
	defer right.Close()
	for {
		var m inMessage
		if right.stream.RecvMsg(&m) != nil || lastWord(&m) != nil {
			return
		}
		m.take(nil, nil)
	}
}

// TestSums fails if gradients are wrong, or replicas drift apart, over HTTP/2.
func TestSums(t *testing.T) {
	linktest.Sums(t, func() linktest.Network { return &network{} })
}

// TestReview16Threads fails if a group over HTTP/2 has fewer threads than it needs.
func TestReview16Threads(t *testing.T) { linktest.Threads(t, &network{}) }
