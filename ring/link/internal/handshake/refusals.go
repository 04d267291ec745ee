package handshake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// refusals counts refused connections, for the error about a peer that did not connect. Its
// methods may be called from several goroutines.
type refusals struct {
	mu    sync.Mutex
	count int
	last  string // address of the last one
	why   error  // reason of the last one
}

// record records the refusal of a connection from addr.
func (r *refusals) record(addr string, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	r.last, r.why = addr, why
}

// explain returns why a peer has not connected before ctx ended, with the last refusal.
func (r *refusals) explain(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == 0 {
		return fmt.Errorf("it did not connect, and nobody was refused (%w)", context.Cause(ctx))
	}
	return fmt.Errorf("it did not connect; of %d refused connections the last was from %s: %v (%w)",
		r.count, r.last, r.why, context.Cause(ctx))
}

// alternatives lists the accepted values: "0", "0 or 2", "0, 2 or 4".
func alternatives(names []string) string {
	names = slices.Compact(names)
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return names[0]
}
