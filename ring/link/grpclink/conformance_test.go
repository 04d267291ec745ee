package grpclink

import (
	"fmt"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
)

// TestConformance verifies that links over loopback keep the contract of ring.Link.
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

// TestHandshake verifies that workers find each other and that strangers are refused.
func TestHandshake(t *testing.T) {
	linktest.Handshake(t, func() linktest.Network { return &network{} })
}

// TestFaults verifies that the link reports a neighbour's protocol fault under the
// neighbour's name.
func TestFaults(t *testing.T) {
	linktest.Faults(t, func(t *testing.T) linktest.Stage {
		s, _, right := stage(t)
		go takeAll(right)
		return s
	})
}

// takeAll reads the frames that the link sends, so that its Close need not wait.
func takeAll(right *incoming) {
	defer right.Close()
	for {
		var m inMessage
		if right.stream.RecvMsg(&m) != nil || closingReason(&m) != nil {
			return
		}
		m.take(nil, nil)
	}
}

// TestSums verifies that sums over HTTP/2 are right and equal on all ranks.
func TestSums(t *testing.T) {
	linktest.Sums(t, func() linktest.Network { return &network{} })
}

// TestThreads verifies that a group over HTTP/2 has as many threads as it needs.
func TestThreads(t *testing.T) { linktest.Threads(t, &network{}) }
