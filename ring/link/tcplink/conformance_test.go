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
	for _, how := range []mode{local, local.spinning(0), auth, tls, tls.spinning(0)} {
		t.Run(fmt.Sprintf("mode=%s/spin=%d", how.name, how.Spin), func(t *testing.T) {
			linktest.Run(t, func(t *testing.T, p int) []ring.Link { return openRing(t, p, how) })
			linktest.Routes(t, func(t *testing.T, routes [][]ring.Route) [][]ring.Link {
				return openRoutes(t, &network{mode: how}, routes)
			})
		})
	}
}
