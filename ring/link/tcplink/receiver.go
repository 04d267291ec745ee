package tcplink

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// readAhead is the size of a receiver's buffer. A frame of up to that size costs one system
// call. Of a larger frame at most that much is copied.
const readAhead = 4 << 10

// receiver is the receiving half of a link.
type receiver struct {
	in     *conn
	out    *sender // that writes to the same connection; nil: the connection is not shared
	aborts *delivery.AbortNotifier

	reading sync.Mutex // held while a frame is read; guards the fields below
	end     error      // why the link receives nothing more
	idle    idleHook   // called when recv finds no bytes
	buf     [readAhead]byte
	first   int // bounds of the buffered bytes
	last    int
}

// recv reads a data frame.
func (r *receiver) recv(into []byte) (f ring.Frame, err error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if r.end != nil {
		return f, r.end
	}
	r.idle.beforeRead()
	if f, err = r.next(into); err != nil {
		r.fail(err)
		return ring.Frame{}, r.end
	}
	return f, nil
}

// next reads a data frame and puts its payload into into. It does not allocate. A closing
// frame is an error: the *ring.Abort, or delivery.ErrGoodbye.
func (r *receiver) next(into []byte) (ring.Frame, error) {
	if err := r.fill(ring.FrameHeaderBytes); err != nil {
		return ring.Frame{}, err
	}
	h, err := ring.ParseFrameHeader(r.buf[r.first:r.first+ring.FrameHeaderBytes], r.in.crc)
	if err != nil {
		return ring.Frame{}, err
	}
	r.first += ring.FrameHeaderBytes
	switch {
	case h.Kind == ring.KindAbort:
		return ring.Frame{}, r.abort(&h)
	case h.PayloadBytes > len(into):
		return ring.Frame{}, r.tooLong(&h, len(into))
	case h.Kind == ring.KindClose:
		return ring.Frame{}, cmp.Or(h.Check(nil), delivery.ErrGoodbye)
	}
	f := h.Frame
	f.Payload = into[:h.PayloadBytes:h.PayloadBytes]
	n := copy(f.Payload, r.buf[r.first:r.last])
	r.first += n
	if n < len(f.Payload) {
		if _, err := io.ReadFull(r.in.socket, f.Payload[n:]); err != nil {
			return ring.Frame{}, err
		}
	}
	return f, h.Check(f.Payload)
}

// restTimeout bounds the wait for more of a payload that is too long.
const restTimeout = time.Second

// tooLong returns why a frame has more payload than there is room for: its sender differs from this
// worker, or the length was changed on the way. The CRC, for which all of the payload is read, tells
// the two apart.
func (r *receiver) tooLong(h *ring.FrameHeader, room int) error {
	for left := h.PayloadBytes; r.in.crc && left > 0; {
		r.in.SetReadDeadline(time.Now().Add(restTimeout))
		if err := r.fill(1); err != nil {
			return fmt.Errorf("%w (%d bytes of a payload of %d do not come)", ring.ErrChangedBytes, left, h.PayloadBytes)
		}
		n := min(left, r.last-r.first)
		h.Add(r.buf[r.first : r.first+n])
		r.first, left = r.first+n, left-n
	}
	return cmp.Or(h.Check(nil), ring.TooLong(h.Frame, h.PayloadBytes, room))
}

// abort reads the rest of an abort frame and returns the *ring.Abort, the last frame of the stream.
func (r *receiver) abort(h *ring.FrameHeader) error {
	n := min(h.PayloadBytes, len(r.buf))
	if err := r.fill(n); err != nil {
		return err
	}
	a, err := ring.ParseAbort(h, r.buf[r.first:][:n])
	if err != nil {
		return err
	}
	return a
}

// fill reads until n bytes are buffered.
func (r *receiver) fill(n int) error {
	if r.last-r.first >= n {
		return nil
	}
	r.last = copy(r.buf[:], r.buf[r.first:r.last])
	r.first = 0
	got, err := io.ReadAtLeast(r.in.socket, r.buf[r.last:], n-r.last)
	r.last += got
	return err
}

// fail records why the link receives nothing more. Over a shared connection it sends nothing
// more either. r.reading is held.
func (r *receiver) fail(err error) {
	if r.out != nil {
		err = r.out.end(err)
	}
	r.end = err
	r.aborts.Notify(err)
}

// endReason returns why a shared connection has ended over which a write has failed. It waits
// for a recv in progress; else it reads the neighbour's last frame itself. Both end soon, see
// sender.fail.
func (r *receiver) endReason() error {
	r.reading.Lock()
	defer r.reading.Unlock()
	if r.end != nil {
		return r.end
	}
	r.idle.attach(r.in, nil) // this is not the receiving goroutine
	_, err := r.next(nil)
	if err == nil || errors.Is(err, ring.ErrCorruptFrame) { // data, and no last frame
		err = os.ErrDeadlineExceeded
	}
	r.fail(err)
	return r.end
}

// close writes a closing frame and ends a recv that blocks.
func (r *receiver) close(last delivery.ClosingFrame) {
	writeClosing(r.in, last)
	r.in.Close()
}
