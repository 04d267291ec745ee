package tcplink

import (
	"fmt"
	"net"
	"sync"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// receiver is the receiving half of a link.
type receiver struct {
	frames       reader
	count        delivery.ReceivedCounter
	end          error // why the link receives nothing more
	ackFailed    bool  // the neighbour takes no more acknowledgements
	ack          [ring.FrameHeaderBytes]byte
	reconnection *reconnection // nil: the link ends with its connection
	shared       *sharedConn   // nil: the connection is not shared
	idle         idleHook      // called when recv finds no bytes
	aborts       *delivery.AbortNotifier

	reading sync.Mutex // held while frames are read

	mu       sync.Mutex // guards the fields below; only the receiving goroutine changes in and inShared
	in       net.Conn
	inShared bool              // in is the shared connection: the sender writes to it, and acknowledgements arrive on it
	next     delivery.Position // the earliest position that the next frame may have
	finished bool              // the link has ended on this side
}

func newReceiver(in net.Conn) *receiver {
	return &receiver{in: in, frames: reader{src: in}}
}

// recv reads a data frame and sends the acknowledgement if one is due.
func (r *receiver) recv(into []byte) (ring.Frame, error) {
	r.idle.beforeRead() // before Lock, which may wait too
	r.reading.Lock()
	defer r.shared.afterRecv()
	defer r.reading.Unlock()
	for r.end == nil {
		f, err := r.read(into)
		if err == nil {
			return f, nil
		}
		r.idle.run(true) // the repair may take long
		r.end = r.repair(r.shared.failRead(err))
	}
	r.mu.Lock()
	r.finished = true
	r.mu.Unlock()
	r.aborts.Notify(r.end)
	return ring.Frame{}, r.end
}

// read is recv over the current connection.
func (r *receiver) read(into []byte) (ring.Frame, error) {
	if r.reconnection != nil && r.reconnection.offered.Load() {
		return ring.Frame{}, errSuperseded
	}
	f, err := r.frames.next(into)
	for err == nil && f.Kind == ring.KindAck && r.inShared {
		if err = r.shared.handleAck(&f); err == nil {
			f, err = r.frames.next(into)
		}
	}
	switch {
	case err != nil:
		return ring.Frame{}, err
	case f.Kind == ring.KindClose:
		r.shared.fail(delivery.ErrGoodbye)
		r.in.Close() // shows the neighbour that all frames were read
		return ring.Frame{}, delivery.ErrGoodbye
	case f.Kind != ring.KindData:
		return ring.Frame{}, fmt.Errorf("%w: kind %d where data come", ring.ErrCorruptFrame, f.Kind)
	}
	if r.reconnection != nil {
		if err := r.advance(&f); err != nil {
			return ring.Frame{}, err
		}
	}
	if r.count.Add(&f) && !r.ackFailed {
		r.acknowledge(&f)
	}
	return f, nil
}

// advance records the arrival of f: after a reconnect the stream continues behind f. A
// frame at or before a recorded position is an error.
func (r *receiver) advance(f *ring.Frame) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch at := delivery.At(f); {
	case !at.Before(r.next):
		r.next = at.Next()
		r.reconnection.corrupt = 0
		return nil
	case at.Op == r.next.Op:
		return fmt.Errorf("%w: operation is %d, segment is %d, want %d or later", ring.ErrCorruptFrame, at.Op, at.Segment, r.next.Segment)
	default:
		return fmt.Errorf("%w: operation is %d, want %d or later", ring.ErrCorruptFrame, at.Op, r.next.Op)
	}
}

// acknowledge tells the neighbour that all frames up to f have arrived. A failure to tell
// is no error of this direction: a neighbour may send its frames, say goodbye and exit.
func (r *receiver) acknowledge(f *ring.Frame) {
	a := ring.Frame{Kind: ring.KindAck, Stream: f.Stream, Generation: f.Generation, Op: f.Op, Segment: f.Segment}
	if r.inShared {
		r.shared.queueAck(a)
		return
	}
	ring.PutFrameHeader(r.ack[:], &a, false)
	if _, err := r.in.Write(r.ack[:]); err != nil {
		r.ackFailed = true
	}
}

// close writes a closing frame and ends a recv that blocks.
func (r *receiver) close(last delivery.ClosingFrame) {
	r.mu.Lock()
	r.finished = true
	in, both := r.in, r.inShared // finished is set, so no replacement follows
	r.mu.Unlock()
	if r.reconnection != nil {
		r.reconnection.stop()
	}
	if !both { // the sender writes the closing frame of a shared connection
		writeClosing(in, last)
	}
	in.Close()
	if r.reconnection != nil {
		r.adoptReplacement() // closes an offered replacement
		r.reconnection.release()
	}
}
