package ring

import (
	"errors"
	"fmt"
)

// ErrGenerationEnded reports that the set of workers has changed or that a worker is lost. Every
// later operation on the Group fails. The caller should close the Group, join the next
// generation and take the newest state of the workers that are left.
var ErrGenerationEnded = errors.New("ring: generation ended")

// ErrTimeout reports that an operation made no progress for Config.OpTimeout.
var ErrTimeout = errors.New("ring: operation timed out")

// PeerError describes a failed exchange with another worker. Use errors.Is to test for a cause
// and errors.As to get the rank.
type PeerError struct {
	// Op is "all-reduce", "reduce-scatter", "all-gather", "broadcast", "barrier" or "rows";
	// "idle" between operations; before the first one "handshake" (this worker dialled),
	// "accept" (the neighbour did not dial), "memory" or "start".
	Op   string
	Seq  uint64 // number of the operation in its generation, from 0
	Step int    // step of the algorithm, from 0
	Rank int    // rank of the neighbour
	Host string // host name of the neighbour
	Addr string // address of the neighbour
	Err  error  // the underlying error
}

// Error returns the operation, the step, the rank and address of the neighbour, and Err.
func (e *PeerError) Error() string {
	return fmt.Sprintf("ring: %s %d, step %d, peer rank %d (%s): %v", e.Op, e.Seq, e.Step, e.Rank, e.Addr, e.Err)
}

// Unwrap returns Err.
func (e *PeerError) Unwrap() error { return e.Err }
