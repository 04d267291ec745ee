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
				return openRoutes(t, &network{config: c}, routes)
			})
		})
	}
}
