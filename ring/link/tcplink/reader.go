package tcplink

import (
	"io"

	"ringtrain/ring"
)

// readAhead is the size of a reader's buffer. A frame of up to that size costs one system
// call. Of a larger frame at most that much is copied.
const readAhead = 4 << 10

// reader reads frames from a stream.
type reader struct {
	src        io.Reader
	buf        [readAhead]byte
	start, end int // bounds of the buffered bytes
}

// next reads a frame and puts its payload into into. It does not allocate. Bytes that are
// no valid frame are a corruptError.
func (r *reader) next(into []byte) (ring.Frame, error) {
	if err := r.fill(ring.FrameHeaderBytes); err != nil {
		return ring.Frame{}, err
	}
	h, err := ring.ParseFrameHeader(r.buf[r.start : r.start+ring.FrameHeaderBytes])
	if err != nil {
		return ring.Frame{}, corruptError{err}
	}
	r.start += ring.FrameHeaderBytes
	if h.Kind == ring.KindAbort {
		return ring.Frame{}, r.abort(&h)
	}
	if h.PayloadBytes > len(into) {
		return ring.Frame{}, ring.TooLong(h.Frame, h.PayloadBytes, len(into))
	}
	f := h.Frame
	f.Payload = into[:h.PayloadBytes:h.PayloadBytes]
	n := copy(f.Payload, r.buf[r.start:r.end])
	r.start += n
	if n < len(f.Payload) {
		if _, err := io.ReadFull(r.src, f.Payload[n:]); err != nil {
			return ring.Frame{}, err
		}
	}
	if err := h.Check(f.Payload); err != nil {
		return ring.Frame{}, corruptError{err}
	}
	return f, nil
}

// abort reads the rest of an abort frame and returns the *ring.Abort, the last frame of the stream.
func (r *reader) abort(h *ring.FrameHeader) error {
	if err := r.fill(min(h.PayloadBytes, len(r.buf))); err != nil {
		return err
	}
	a, err := ring.ParseAbort(h, r.buf[r.start:][:min(h.PayloadBytes, len(r.buf))])
	if err != nil {
		return corruptError{err}
	}
	return a
}

// peek returns the kind of the next frame without consuming it.
func (r *reader) peek() (ring.FrameKind, error) {
	if err := r.fill(ring.FrameHeaderBytes); err != nil {
		return 0, err
	}
	h, err := ring.ParseFrameHeader(r.buf[r.start : r.start+ring.FrameHeaderBytes])
	if err != nil {
		return 0, corruptError{err}
	}
	return h.Frame.Kind, nil
}

// reset continues with another stream.
func (r *reader) reset(src io.Reader) { r.src, r.start, r.end = src, 0, 0 }

// fill reads until n bytes are buffered.
func (r *reader) fill(n int) error {
	if r.end-r.start >= n {
		return nil
	}
	r.end = copy(r.buf[:], r.buf[r.start:r.end])
	r.start = 0
	got, err := io.ReadAtLeast(r.src, r.buf[r.end:], n-r.end)
	r.end += got
	return err
}
