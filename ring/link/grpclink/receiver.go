package grpclink

import (
	"fmt"
	"sync"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// readAhead is how many messages wait for Recv, besides those that gRPC's
// windows hold.
const readAhead = 2

// arrival is a message, or the end of the stream.
type arrival struct {
	msg inMessage
	err error
}

// receiver is the half of a link that comes from the neighbour which sends.
type receiver struct {
	in       *incoming
	arrivals chan arrival  // closed by readAll
	quit     chan struct{} // closed by close

	aborts *delivery.AbortNotifier

	count delivery.ReceivedCounter
	end   error // why nothing follows
	head  [ring.FrameHeaderBytes]byte

	answer sync.Mutex // held while something is sent back: gRPC takes one sender only
	deaf   bool       // the neighbour takes no acknowledgements any more
	ack    [ring.FrameHeaderBytes]byte
	ackMsg outMessage
}

// readAll reads the stream, a little ahead of recv: so a neighbour that says
// goodbye learns that everything has left its process, also while this one is
// busy with something else.
func (r *receiver) readAll() {
	defer close(r.arrivals)
	var (
		msg inMessage
		err error
	)
	for err == nil {
		if err = r.in.stream.RecvMsg(&msg); err != nil {
			err = lost(err)
		} else if err = lastWord(&msg); err != nil {
			r.in.Close() // tells the neighbour
			r.aborts.Notify(err)
		}
		select {
		case r.arrivals <- arrival{msg, err}:
		case <-r.quit:
			return
		}
	}
}

// lastWord returns why nothing follows msg, if it is a frame that says so: a goodbye or an abort. It stays
// as it is.
func lastWord(msg *inMessage) error {
	const kindAt = 4 // of a header
	if len(msg.data) > 0 {
		if b := msg.data[0].ReadOnlyData(); len(b) > kindAt && ring.FrameKind(b[kindAt]) < ring.KindClose {
			return nil // most messages: it costs nothing to tell
		}
	}
	n := msg.data.Len()
	if n < ring.FrameHeaderBytes || n > ring.FrameHeaderBytes+ring.MaxAbortPayload {
		return nil
	}
	var bytes [ring.FrameHeaderBytes + ring.MaxAbortPayload]byte
	msg.data.CopyTo(bytes[:n])
	h, err := ring.ParseFrameHeader(bytes[:ring.FrameHeaderBytes])
	switch {
	case err != nil || h.PayloadBytes != n-ring.FrameHeaderBytes:
		return nil
	case h.Kind == ring.KindClose && h.PayloadBytes == 0:
		return delivery.ErrGoodbye
	case h.Kind != ring.KindAbort:
		return nil
	}
	a, err := ring.ParseAbort(&h, bytes[ring.FrameHeaderBytes:n])
	if err != nil {
		return err
	}
	return a
}

// recv reads a data frame and acknowledges it if it is due.
func (r *receiver) recv(into []byte) (ring.Frame, error) {
	if r.end != nil {
		return ring.Frame{}, r.end
	}
	f, err := r.next(into)
	if err == nil && f.Kind != ring.KindData {
		err = fmt.Errorf("%w: kind %d where data come", ring.ErrCorruptFrame, f.Kind)
	}
	if err != nil {
		r.end = err
		return ring.Frame{}, err
	}
	if r.count.Add(&f) {
		r.acknowledge(&f)
	}
	return f, nil
}

// next reads a frame, in as many messages as it was sent in.
func (r *receiver) next(into []byte) (ring.Frame, error) {
	got, err := r.message(r.head[:], into[:min(len(into), maxChunk)])
	if err != nil {
		return ring.Frame{}, err
	}
	h, err := ring.ParseFrameHeader(r.head[:min(got, len(r.head))])
	if err != nil {
		return ring.Frame{}, err
	}
	n := h.PayloadBytes
	if n > len(into) {
		return ring.Frame{}, ring.TooLong(h.Frame, n, len(into))
	}
	got -= len(r.head)
	if want := min(n, maxChunk); got != want {
		return ring.Frame{}, fmt.Errorf("%w: %d bytes with the header of a payload of %d, want %d", ring.ErrCorruptFrame, got, n, want)
	}
	for at := got; at < n; at += got {
		want := min(n-at, maxChunk)
		if got, err = r.message(nil, into[at:at+want]); err != nil {
			return ring.Frame{}, err
		}
		if got != want {
			return ring.Frame{}, fmt.Errorf("%w: message of %d bytes at byte %d of a payload of %d, want %d", ring.ErrCorruptFrame, got, at, n, want)
		}
	}
	f := h.Frame
	f.Payload = into[:n:n]
	return f, h.Check(f.Payload)
}

// message takes the next message into head and body and returns its length.
func (r *receiver) message(head, body []byte) (int, error) {
	a, ok := <-r.arrivals
	if !ok {
		return 0, ring.ErrClosed
	}
	if a.err != nil {
		return 0, a.err
	}
	return a.msg.take(head, body), nil
}

// acknowledge tells the neighbour that everything up to f has arrived. That it
// cannot be told is no error of this direction: a neighbour may send, say
// goodbye and be gone.
func (r *receiver) acknowledge(f *ring.Frame) {
	r.answer.Lock()
	defer r.answer.Unlock()
	if r.deaf {
		return
	}
	a := ring.Frame{Kind: ring.KindAck, Stream: f.Stream, Generation: f.Generation, Op: f.Op, Segment: f.Segment}
	ring.PutFrameHeader(r.ack[:], &a, false)
	r.ackMsg = outMessage{head: r.ack[:]}
	r.deaf = r.in.stream.SendMsg(&r.ackMsg) != nil
}

// close sends a last frame and ends a recv that blocks.
func (r *receiver) close(last delivery.ClosingFrame) {
	if r.answer.TryLock() {
		if !r.deaf {
			say(r.in.stream, last)
			r.deaf = true
		}
		r.answer.Unlock()
	}
	close(r.quit)
	r.in.Close()
}
