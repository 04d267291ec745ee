package tcplink

import "ringtrain/ring"

// isShared reports whether the link of r has one connection for both directions. Data packets
// then carry the TCP acknowledgements, which else need packets of their own.
func isShared(r ring.Route) bool { return r.Shared && r.To == r.From && r.To >= 0 }

// dialSide returns the part of r that worker me dials or accepts: the lower rank dials a shared connection.
func dialSide(me int, r ring.Route) ring.Route {
	switch {
	case !isShared(r):
	case me < r.To:
		r.From = -1
	default:
		r.To = -1
	}
	return r
}
