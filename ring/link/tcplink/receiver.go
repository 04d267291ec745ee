package tcplink

import (
	"fmt"
	"net"
	"sync"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// receiver is the half of a link that comes from the neighbour which sends.
type receiver struct {
	frames reader
	count  delivery.Received
	end    error // why nothing follows
	deaf   bool  // the neighbour takes no acknowledgements any more
	ack    [ring.FrameHeaderBytes]byte
	rejoin *rejoin // nil: the end of the connection is the end of the link
	pair   *pair   // nil: a connection for itself
	idle   idle    // what recv is to do when it finds nothing
	aborts *delivery.Hearing

	reading sync.Mutex // held while frames are read

	mu   sync.Mutex // guards what follows; in and both are changed by the goroutine that receives
	in   net.Conn
	both bool              // in is the pair's: the sender writes to it, and acknowledgements come
	next delivery.Position // the frame to come, or one before it
	over bool              // the link has ended here
}

func newReceiver(in net.Conn) *receiver {
	return &receiver{in: in, frames: reader{src: in}}
}

// recv reads a data frame and acknowledges it if it is due.
func (r *receiver) recv(into []byte) (ring.Frame, error) {
	r.idle.before() // also before it waits for reading
	r.reading.Lock()
	defer r.pair.received()
	defer r.reading.Unlock()
	for r.end == nil {
		f, err := r.read(into)
		if err == nil {
			return f, nil
		}
		r.idle.do(true) // another connection may be long in coming
		r.end = r.mend(r.pair.endBy(err))
	}
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.aborts.Tell(r.end)
	return ring.Frame{}, r.end
}

// read is recv over the connection that there is.
func (r *receiver) read(into []byte) (ring.Frame, error) {
	if r.rejoin != nil && r.rejoin.called.Load() {
		return ring.Frame{}, errAgain
	}
	f, err := r.frames.next(into)
	for err == nil && f.Kind == ring.KindAck && r.both {
		if err = r.pair.acknowledged(&f); err == nil {
			f, err = r.frames.next(into)
		}
	}
	switch {
	case err != nil:
		return ring.Frame{}, err
	case f.Kind == ring.KindClose:
		r.pair.end(delivery.ErrGoodbye)
		r.in.Close() // tells the neighbour that everything was read
		return ring.Frame{}, delivery.ErrGoodbye
	case f.Kind != ring.KindData:
		return ring.Frame{}, fmt.Errorf("%w: kind %d where data come", ring.ErrCorruptFrame, f.Kind)
	}
	if r.rejoin != nil {
		if err := r.advance(&f); err != nil {
			return ring.Frame{}, err
		}
	}
	if r.count.Add(&f) && !r.deaf {
		r.acknowledge(&f)
	}
	return f, nil
}

// advance enters the arrival of f: whoever comes back goes on after it. A frame
// that has been here is never taken again.
func (r *receiver) advance(f *ring.Frame) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch at := delivery.At(f); {
	case !at.Before(r.next):
		r.next = at.Next()
		r.rejoin.damage = 0
		return nil
	case at.Op == r.next.Op:
		return fmt.Errorf("%w: operation is %d, segment is %d, want %d or later", ring.ErrCorruptFrame, at.Op, at.Segment, r.next.Segment)
	default:
		return fmt.Errorf("%w: operation is %d, want %d or later", ring.ErrCorruptFrame, at.Op, r.next.Op)
	}
}

// acknowledge tells the neighbour that everything up to f has arrived. That it
// cannot be told is no error of this direction: a neighbour may send, say
// goodbye and be gone.
func (r *receiver) acknowledge(f *ring.Frame) {
	a := ring.Frame{Kind: ring.KindAck, Stream: f.Stream, Generation: f.Generation, Op: f.Op, Segment: f.Segment}
	if r.both {
		r.pair.owe(a)
		return
	}
	ring.PutFrameHeader(r.ack[:], &a, false)
	if _, err := r.in.Write(r.ack[:]); err != nil {
		r.deaf = true
	}
}

// close writes a last frame and ends a recv that blocks.
func (r *receiver) close(last delivery.Farewell) {
	r.mu.Lock()
	r.over = true
	in, both := r.in, r.both // from now on there is no other one
	r.mu.Unlock()
	if r.rejoin != nil {
		r.rejoin.stop()
	}
	if !both { // else the sender says it
		say(in, last)
	}
	in.Close()
	if r.rejoin != nil {
		r.accept() // refuses what was offered
		r.rejoin.leave()
	}
}
