package grpclink

import (
	"fmt"
	"sync"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// receiver is the half of a link that comes from the left neighbour.
type receiver struct {
	in    *incoming
	count delivery.Received
	end   error // why nothing follows
	head  [ring.FrameHeaderBytes]byte
	msg   message

	answer sync.Mutex // held while something is sent back: gRPC takes one sender only
	deaf   bool       // the neighbour takes no acknowledgements any more
	ack    [ring.FrameHeaderBytes]byte
	ackMsg message
}

// recv reads a data frame and acknowledges it if it is due.
func (r *receiver) recv(into []byte) (ring.Frame, error) {
	if r.end != nil {
		return ring.Frame{}, r.end
	}
	f, err := r.next(into)
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
	if r.count.Add(&f) {
		r.acknowledge(&f)
	}
	return f, nil
}

// next reads a frame, in as many messages as it was sent in.
func (r *receiver) next(into []byte) (ring.Frame, error) {
	if err := r.message(r.head[:], into[:min(len(into), maxChunk)]); err != nil {
		return ring.Frame{}, err
	}
	h, err := ring.ParseFrameHeader(r.head[:min(r.msg.n, len(r.head))])
	if err != nil {
		return ring.Frame{}, err
	}
	n := h.PayloadBytes
	if n > len(into) {
		return ring.Frame{}, fmt.Errorf("%w: payload of %d bytes, want at most %d", ring.ErrCorruptFrame, n, len(into))
	}
	got := r.msg.n - len(r.head)
	if want := min(n, maxChunk); got != want {
		return ring.Frame{}, fmt.Errorf("%w: %d bytes with the header of a payload of %d, want %d", ring.ErrCorruptFrame, got, n, want)
	}
	for got < n {
		want := min(n-got, maxChunk)
		if err := r.message(nil, into[got:got+want]); err != nil {
			return ring.Frame{}, err
		}
		if r.msg.n != want {
			return ring.Frame{}, fmt.Errorf("%w: message of %d bytes at byte %d of a payload of %d, want %d", ring.ErrCorruptFrame, r.msg.n, got, n, want)
		}
		got += want
	}
	f := h.Frame
	f.Payload = into[:n:n]
	return f, h.Check(f.Payload)
}

// message reads one message into head and body.
func (r *receiver) message(head, body []byte) error {
	r.msg = message{head: head, body: body}
	err := r.in.stream.RecvMsg(&r.msg)
	r.msg.body = nil // the caller's again
	if err != nil {
		return lost(err)
	}
	return nil
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
	r.ackMsg = message{head: r.ack[:]}
	r.deaf = r.in.stream.SendMsg(&r.ackMsg) != nil
}

// close says goodbye and ends a recv that blocks.
func (r *receiver) close(generation uint64) {
	if r.answer.TryLock() {
		if !r.deaf {
			goodbye(r.in.stream, generation)
			r.deaf = true
		}
		r.answer.Unlock()
	}
	r.in.Close()
}
