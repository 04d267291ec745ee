package tcplink

import (
	"fmt"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
)

// TestConformance verifies that links over loopback keep the contract of ring.Link with
// every combination of options.
func TestConformance(t *testing.T) {
	for _, c := range []Config{{}, {PayloadCRC: true, Spin: DefaultSpin}, {Spin: 2}} {
		t.Run(fmt.Sprintf("crc=%v/spin=%d", c.PayloadCRC, c.Spin), func(t *testing.T) {
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
	for _, c := range []Config{{}, {Spin: DefaultSpin}} {
		t.Run(fmt.Sprintf("spin=%d", c.Spin), func(t *testing.T) {
			linktest.Faults(t, func(t *testing.T) linktest.Stage {
				s, _, _ := stage(t, c)
				return s
			})
		})
	}
}

// TestSums verifies that sums over sockets are right and equal on all ranks.
func TestSums(t *testing.T) {
	linktest.Sums(t, func() linktest.Network { return &network{config: Config{PayloadCRC: true}} })
}

// TestThreads verifies that a group over sockets has as many threads as it needs.
func TestThreads(t *testing.T) { linktest.Threads(t, &network{}) }
