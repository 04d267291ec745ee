package handshake

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
)

// Refusals counts refused connections, for the error about a peer that did not connect. All of them
// have proved the token.
type Refusals struct {
	count int
	last  string // address of the last one
	Why   error  // reason of the last one; nil: none was refused
}

// add adds the refusal of c.
func (r *Refusals) add(c interface{ RemoteAddr() net.Addr }, why error) {
	r.count++
	r.last, r.Why = c.RemoteAddr().String(), why
}

// explain returns why a peer has not connected before ctx ended, with the last refusal.
func (r *Refusals) explain(ctx context.Context) error {
	if r.count == 0 {
		return fmt.Errorf("it did not connect, and nobody was refused (%w)", context.Cause(ctx))
	}
	return fmt.Errorf("it did not connect; of %d refused connections the last was from %s: %v (%w)",
		r.count, r.last, r.Why, context.Cause(ctx))
}

// alternatives lists the accepted values: "0", "0 or 2", "0, 2 or 4".
func alternatives(names []string) string {
	names = slices.Compact(names)
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return names[0]
}
