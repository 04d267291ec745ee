package tcplink

import (
	"fmt"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
)

// TestConformance fails if links over loopback are not what package ring takes
// a link for, with any of their options.
func TestConformance(t *testing.T) {
	for _, c := range []Config{{}, {PayloadCRC: true, Spin: DefaultSpin}, {Streams: 3, Spin: 2}} {
		t.Run(fmt.Sprintf("crc=%v/spin=%d/streams=%d", c.PayloadCRC, c.Spin, c.Streams), func(t *testing.T) {
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
	for _, spin := range []int{0, DefaultSpin} {
		t.Run(fmt.Sprintf("spin=%d", spin), func(t *testing.T) {
			linktest.Faults(t, func(t *testing.T) linktest.Stage {
				s, _, _ := stage(t, Config{Spin: spin})
				return s
			})
		})
	}
}
