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

// TestConformance verifies that links over loopback keep the contract of ring.Link with
// every combination of options.
func TestConformance(t *testing.T) {
	for _, c := range []Config{{}, {PayloadCRC: true, Spin: DefaultSpin}, {Spin: 2}, {PayloadCRC: true, Repair: true, Spin: DefaultSpin}} {
		t.Run(fmt.Sprintf("crc=%v/spin=%d/repair=%v", c.PayloadCRC, c.Spin, c.Repair), func(t *testing.T) {
			linktest.Run(t, func(t *testing.T, p int) []ring.Link { return openRing(t, p, c) })
			linktest.Routes(t, func(t *testing.T, routes [][]ring.Route) [][]ring.Link {
				return linktest.Open(t, &network{config: c}, routes)
			})
		})
	}
}

// TestHandshake verifies that workers find each other and that strangers are refused.
func TestHandshake(t *testing.T) {
	for _, repair := range []bool{false, true} {
		t.Run(fmt.Sprintf("repair=%v", repair), func(t *testing.T) {
			linktest.Handshake(t, func() linktest.Network { return &network{config: Config{Repair: repair}} })
		})
	}
}

// TestFaults verifies that the link reports a neighbour's protocol fault under the
// neighbour's name. With Repair the neighbour no longer listens: the first fault is reported.
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

// dialNobody fails as a dial does when no process listens on the port.
func dialNobody(context.Context, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }

// TestSums verifies that sums over sockets are right and equal on all ranks.
func TestSums(t *testing.T) {
	linktest.Sums(t, func() linktest.Network { return &network{config: Config{PayloadCRC: true}} })
}

// TestThreads verifies that a group over sockets has as many threads as it needs.
func TestThreads(t *testing.T) { linktest.Threads(t, &network{}) }
