package grpclink

import (
	"fmt"
	"sync"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// readAhead is the number of messages that wait for Recv, besides those in gRPC's
// windows.
const readAhead = 2

// received is a message, or the end of the stream.
type received struct {
	msg inMessage
	err error
}

// receiver is the receiving half of a link.
type receiver struct {
	in       *incoming
	messages chan received // closed by readAll
	quit     chan struct{} // closed by close

	aborts *delivery.AbortNotifier

	count delivery.ReceivedCounter
	end   error // why the link receives nothing more
	head  [ring.FrameHeaderBytes]byte

	sending   sync.Mutex // held during a send on the stream: gRPC allows one at a time
	ackFailed bool       // the neighbour takes no more acknowledgements
	ack       [ring.FrameHeaderBytes]byte
	ackMsg    outMessage
}

// readAll reads the stream, a few messages ahead of recv. A neighbour that says goodbye so
// learns that all its frames have left its process, even while this worker computes.
func (r *receiver) readAll() {
	defer close(r.messages)
	var (
		msg inMessage
		err error
	)
	for err == nil {
		if err = r.in.stream.RecvMsg(&msg); err != nil {
			err = streamEnded(err)
		} else if err = closingReason(&msg); err != nil {
			r.in.Close() // shows the neighbour that its last frame was read
			r.aborts.Notify(err)
		}
		select {
		case r.messages <- received{msg, err}:
		case <-r.quit:
			return
		}
	}
}

// closingReason returns why the stream ends if msg is its last frame, a goodbye or an abort, else
// nil. It does not consume msg.
func closingReason(msg *inMessage) error {
	const kindAt = 4 // of a header
	if len(msg.data) > 0 {
		if b := msg.data[0].ReadOnlyData(); len(b) > kindAt && ring.FrameKind(b[kindAt]) < ring.KindClose {
			return nil // the fast path of most messages
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

// recv reads a data frame and sends the acknowledgement if one is due.
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

// next reads a frame from the messages that it was sent in.
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

// message copies the next message into head and body and returns its length.
func (r *receiver) message(head, body []byte) (int, error) {
	a, ok := <-r.messages
	if !ok {
		return 0, ring.ErrClosed
	}
	if a.err != nil {
		return 0, a.err
	}
	return a.msg.take(head, body), nil
}

// acknowledge tells the neighbour that all frames up to f have arrived. A failure to tell
// is no error of this direction: a neighbour may send its frames, say goodbye and exit.
func (r *receiver) acknowledge(f *ring.Frame) {
	r.sending.Lock()
	defer r.sending.Unlock()
	if r.ackFailed {
		return
	}
	a := ring.Frame{Kind: ring.KindAck, Stream: f.Stream, Generation: f.Generation, Op: f.Op, Segment: f.Segment}
	ring.PutFrameHeader(r.ack[:], &a, false)
	r.ackMsg = outMessage{head: r.ack[:]}
	r.ackFailed = r.in.stream.SendMsg(&r.ackMsg) != nil
}

// close sends a closing frame and ends a recv that blocks.
func (r *receiver) close(last delivery.ClosingFrame) {
	if r.sending.TryLock() {
		if !r.ackFailed {
			writeClosing(r.in.stream, last)
			r.ackFailed = true
		}
		r.sending.Unlock()
	}
	close(r.quit)
	r.in.Close()
}
