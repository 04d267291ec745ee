package ring

import (
	"context"
	"errors"
)

// A Link joins a worker to its two neighbours in the ring: it sends to the
// right one, see Membership.Right, and receives from the left one.
//
// Frames arrive whole, once, and in the order sent. A Link may be used by one
// sending and one receiving goroutine at a time, and those two may run at the
// same time; that is what lets a ring of any size start without a deadlock.
//
// A Link takes at least one frame of 64 KiB while the neighbour does not
// receive: Send of such a frame returns once the neighbour has received all
// frames before it. A Group sends small operations from the goroutine that
// receives, and relies on that.
//
// A Link need not watch ctx while it blocks: whoever ends ctx closes the Link.
//
// After any error the Link is in an unknown state and must be closed. A Link that is an
// AbortLink can say why it is closed.
type Link interface {
	// Send hands f to the right neighbour. It may block for flow control. The
	// payload is the caller's again as soon as Send returns.
	Send(ctx context.Context, f Frame) error

	// Recv reads the next frame from the left neighbour; its payload lies in
	// into. A payload longer than into is TooLong: no length from the wire is
	// trusted.
	Recv(ctx context.Context, into []byte) (Frame, error)

	// Close releases both directions and unblocks Send and Recv, which then
	// return ErrClosed. Close may be called more than once.
	Close() error
}

// A PromptLink can send a frame as far as that goes without waiting. So who receives, and
// must not wait for anything else, can send as well, and wakes another goroutine only for
// what the link does not take at once: which costs as much as sending some hundred KiB.
type PromptLink interface {
	Link

	// TrySend is Send as far as that need not wait, and tells whether it is all the
	// way. If it is not, the same frame must follow: by TrySend, which goes on, or by Send,
	// which sends the rest and tells what is wrong, if anything. The payload stays the
	// link's until it is sent.
	TrySend(f Frame) (sent bool)

	// OnIdle has Recv call idle when it finds nothing to read, on its own goroutine: any
	// number of times while it looks again, and with last before it sleeps. A link that
	// cannot tell calls it so before it looks. OnIdle must not be called while Recv runs.
	OnIdle(idle func(last bool))
}

// A ThreadLink waits in system calls, which keep their threads. ring.New raises GOMAXPROCS to
// what its links ask for.
type ThreadLink interface {
	Link

	// Threads returns how many threads the worker's Go code needs beside this link.
	Threads() int
}

// ErrClosed is what Send and Recv return on a link that was closed on this side.
var ErrClosed = errors.New("ring: link closed")

// ErrCorruptFrame means that bytes from a peer are not a frame of this
// protocol, or not the frame that must come next. The job cannot go on:
// another program, another version or a broken network is at work.
var ErrCorruptFrame = errors.New("ring: corrupt frame")
