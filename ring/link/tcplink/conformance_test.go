package tcplink

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
)

// TestConformance fails if links over loopback are not what package ring takes
// a link for, with any of their options.
func TestConformance(t *testing.T) {
	for _, c := range []Config{{}, {PayloadCRC: true, Spin: DefaultSpin}, {Streams: 3, Spin: 2},
		{PayloadCRC: true, Repair: true, Spin: DefaultSpin}, {Repair: true, Streams: 2}} {
		t.Run(fmt.Sprintf("crc=%v/spin=%d/streams=%d/repair=%v", c.PayloadCRC, c.Spin, c.Streams, c.Repair), func(t *testing.T) {
			linktest.Run(t, func(t *testing.T, p int) []ring.Link { return openRing(t, p, c) })
			linktest.Routes(t, func(t *testing.T, routes [][]ring.Route) [][]ring.Link {
				return linktest.Open(t, &network{config: c}, routes)
			})
		})
	}
}

// TestHandshake fails if workers do not find each other, or strangers get in.
func TestHandshake(t *testing.T) {
	for _, repair := range []bool{false, true} {
		t.Run(fmt.Sprintf("repair=%v", repair), func(t *testing.T) {
			linktest.Handshake(t, func() linktest.Network { return &network{config: Config{Repair: repair}} })
		})
	}
}

// TestFaults fails if what a neighbour does wrong is not refused in its name. With
// Repair it is gone when it is sought: the first fault counts.
func TestFaults(t *testing.T) {
	for _, c := range []Config{{}, {Spin: DefaultSpin}, {Repair: true, Dial: dialNobody}} {
		t.Run(fmt.Sprintf("spin=%d/repair=%v", c.Spin, c.Repair), func(t *testing.T) {
			linktest.Faults(t, func(t *testing.T) linktest.Stage {
				s, _, _ := stage(t, c)
				return s
			})
		})
	}
}

// dialNobody finds that nobody listens.
func dialNobody(context.Context, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }

// TestSums fails if gradients are wrong, or replicas drift apart, over sockets.
func TestSums(t *testing.T) {
	linktest.Sums(t, func() linktest.Network { return &network{config: Config{PayloadCRC: true}} })
}

// TestReview16Threads fails if a group over sockets has fewer threads than it needs.
func TestReview16Threads(t *testing.T) { linktest.Threads(t, &network{}) }
