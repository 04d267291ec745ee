package handshake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// visitors remembers who came and was refused, for the error about those who
// did not come. Its methods may be called from several goroutines.
type visitors struct {
	mu    sync.Mutex
	count int
	last  string // the last one's address
	why   error  // and why it was refused
}

// refused notes that a connection from addr was nobody waited for.
func (v *visitors) refused(addr string, why error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.count++
	v.last, v.why = addr, why
}

// instead tells what came, until ctx ended, instead of somebody waited for.
func (v *visitors) instead(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.count == 0 {
		return fmt.Errorf("it did not connect, and nobody was refused (%w)", context.Cause(ctx))
	}
	return fmt.Errorf("it did not connect; of %d refused connections the last was from %s: %v (%w)",
		v.count, v.last, v.why, context.Cause(ctx))
}

// oneOf lists what would have been right: "0", "0 or 2", "0, 2 or 4".
func oneOf(names []string) string {
	names = slices.Compact(names)
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return names[0]
}
