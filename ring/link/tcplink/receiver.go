package tcplink

import (
	"fmt"
	"net"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// receiver is the half of a link that comes from the neighbour which sends.
type receiver struct {
	in     net.Conn
	frames reader
	count  delivery.Received
	end    error // why nothing follows
	deaf   bool  // the neighbour takes no acknowledgements any more
	ack    [ring.FrameHeaderBytes]byte
}

// recv reads a data frame and acknowledges it if it is due.
func (r *receiver) recv(into []byte) (ring.Frame, error) {
	if r.end != nil {
		return ring.Frame{}, r.end
	}
	f, err := r.frames.next(into)
	switch {
	case err != nil:
		r.end = err
	case f.Kind == ring.KindClose:
		r.end = delivery.ErrGoodbye
		r.in.Close() // tells the neighbour that everything was read
	case f.Kind != ring.KindData:
		r.end = fmt.Errorf("%w: kind %d where data come", ring.ErrCorruptFrame, f.Kind)
	}
	if r.end != nil {
		return ring.Frame{}, r.end
	}
	if r.count.Add(&f) && !r.deaf {
		r.acknowledge(&f)
	}
	return f, nil
}

// acknowledge tells the neighbour that everything up to f has arrived. That it
// cannot be told is no error of this direction: a neighbour may send, say
// goodbye and be gone.
func (r *receiver) acknowledge(f *ring.Frame) {
	a := ring.Frame{Kind: ring.KindAck, Stream: f.Stream, Generation: f.Generation, Op: f.Op, Segment: f.Segment}
	ring.PutFrameHeader(r.ack[:], &a, false)
	if _, err := r.in.Write(r.ack[:]); err != nil {
		r.deaf = true
	}
}

// close says goodbye and ends a recv that blocks.
func (r *receiver) close(generation uint64) {
	goodbye(r.in, generation)
	r.in.Close()
}
