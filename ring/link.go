package ring

import (
	"context"
	"errors"
)

// A Link connects a worker to its two neighbours in the ring: it sends to the right neighbour,
// see Membership.Right, and receives from the left one.
//
// Frames arrive whole, exactly once, and in the order sent. One goroutine at a time may send
// and one may receive. The two may overlap, so a ring of any size can start without a deadlock.
//
// A Link takes at least one frame of 64 KiB while the neighbour does not receive: Send of such
// a frame returns once the neighbour has received all frames before it. A Group relies on that
// when it sends small operations from the goroutine that receives.
//
// A Link need not watch ctx while it blocks: Close follows the end of ctx.
//
// After any error the state of the Link is undefined, and the Link must be closed.
type Link interface {
	// Send sends f to the right neighbour. It may block for flow control. The caller may reuse
	// the payload as soon as Send returns.
	Send(ctx context.Context, f Frame) error

	// TrySend sends f as far as the link does not block and reports whether all of f is sent.
	// The goroutine that receives can so send too, and wakes another goroutine only for what
	// the link does not take at once: a wake-up costs as much as sending some hundred KiB. If
	// not all is sent, the same frame must follow: in TrySend, which continues, or in Send,
	// which sends the rest and returns any error. The payload belongs to the link until the
	// frame is sent. A link that cannot try returns false.
	TrySend(f Frame) (sent bool)

	// Recv reads the next frame from the left neighbour, with its payload in into. A payload
	// longer than into is a TooLong error: no length from the wire is trusted.
	Recv(ctx context.Context, into []byte) (Frame, error)

	// Notify sets what the link tells its owner. It is called once, before any other method.
	//
	// Recv calls idle on its own goroutine when it finds nothing to read: any number of times
	// while it polls, and with last before it sleeps. A link that cannot tell calls idle with
	// last before each read.
	//
	// The link calls aborted when the Abort of a neighbour arrives, whether or not a Send or
	// Recv is running. aborted may run on any goroutine and must not block.
	Notify(idle func(last bool), aborted func(*Abort))

	// Abort closes the link and sends why to both neighbours, whose Send and Recv then return
	// it. If a neighbour has a part of a frame then Abort first sends the rest, for half a
	// second at most: a neighbour that does not read does not learn why.
	Abort(why *Abort) error

	// Close closes both directions and unblocks Send and Recv, which then return ErrClosed.
	// Close may be called more than once.
	Close() error

	// Facts returns what the owner of a link may want to know.
	Facts() LinkFacts
}

// LinkFacts is what a link tells its owner of itself. It does not change.
type LinkFacts struct {
	// Threads is the number of threads that the worker's Go code needs beside a link that waits in
	// system calls, which occupy threads; 0 for a link that does not. New raises GOMAXPROCS to
	// what its links need.
	Threads int

	// TLS reports whether the link encrypts what it sends.
	TLS bool
}

// ErrClosed is the error of Send and Recv on a link that this side has closed.
var ErrClosed = errors.New("ring: link closed")

// ErrChangedBytes means that bytes from a peer are not those that it has sent: TLS or a CRC says so.
// The connection has broken, and the workers can go on in another generation.
var ErrChangedBytes = errors.New("bytes were changed on the way")

// ErrCorruptFrame means that a peer has sent what is no frame of this protocol, or not the frame
// that must come next. The job cannot continue: another program or version sends.
var ErrCorruptFrame = errors.New("ring: corrupt frame")
