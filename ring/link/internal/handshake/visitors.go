package handshake

import (
	"context"
	"fmt"
	"sync"

	"ringtrain/ring"
)

// visitors remembers who came instead of the left neighbour, for the error
// that names it. Its methods may be called from several goroutines.
type visitors struct {
	mu    sync.Mutex
	count int
	last  string // the last one's address
	why   error  // and why it was refused
}

// refused notes that a connection from addr was not the left neighbour's.
func (v *visitors) refused(addr string, why error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.count++
	v.last, v.why = addr, why
}

// missing returns the *ring.PeerError of a left neighbour that did not come
// until ctx ended; it is exitcode.Retry.
func (v *visitors) missing(ctx context.Context, left ring.Worker) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.count == 0 {
		return peerError(left, fmt.Errorf("it did not connect, and nobody else did (%w)", context.Cause(ctx)))
	}
	return peerError(left, fmt.Errorf("it did not connect; of %d refused connections the last was from %s: %v (%w)",
		v.count, v.last, v.why, context.Cause(ctx)))
}
