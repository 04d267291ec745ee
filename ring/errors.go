package ring

import (
	"errors"
	"fmt"
)

// ErrGenerationEnded means that the set of workers has changed or a peer
// is gone. No operation on this Group can succeed any more: close it, join
// the next generation and take the newest state among those who live.
var ErrGenerationEnded = errors.New("ring: generation ended")

// ErrTimeout means that an operation made no progress for Config.OpTimeout.
var ErrTimeout = errors.New("ring: operation timed out")

// PeerError reports a failed exchange with a neighbour. Use errors.Is to tell
// the cause, and errors.As to learn which rank it was.
type PeerError struct {
	Op   string // "all-reduce", "reduce-scatter", "all-gather", "broadcast", "barrier", "rows"; between them "idle"; before them "handshake" (dialled), "accept" (did not come), "memory", "start"
	Seq  uint64 // number of the operation in its generation, from 0
	Step int    // step of the ring, from 0
	Rank int    // the neighbour's rank
	Host string // the neighbour's host name
	Addr string // the neighbour's address
	Err  error
}

func (e *PeerError) Error() string {
	return fmt.Sprintf("ring: %s %d, step %d, peer rank %d (%s): %v", e.Op, e.Seq, e.Step, e.Rank, e.Addr, e.Err)
}

func (e *PeerError) Unwrap() error { return e.Err }
