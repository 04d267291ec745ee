package tcplink

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// sender is the half of a link that goes to the neighbour which receives.
type sender struct {
	line       line
	payloadCRC bool
	sent       delivery.Sent
	kept       *kept     // nil: the end of the connection is the end of the link
	redialer   *redialer // nil likewise
	pair       *pair     // nil: a connection for itself
	aborts     *delivery.Hearing

	busy    sync.Mutex // held while a frame is being written; guards what follows
	turned  sync.Cond  // broken or over has changed; over busy
	broken  bool       // a frame was not written whole, or cannot be: nothing may follow it
	over    bool       // there will be no other connection
	begun   bool       // try has entered a frame that is to be sent on; changed by who sends
	refusal error      // of the write that broke the connection
	head    [ring.FrameHeaderBytes]byte

	ended  chan struct{} // closed when no acknowledgement can come any more, and the connection is closed;
	reason error         // then it is known why
}

func newSender(out socket, payloadCRC bool) *sender {
	s := &sender{payloadCRC: payloadCRC, ended: make(chan struct{})}
	s.line.socket = out
	s.turned.L = &s.busy
	return s
}

// line is the connection of a sender. It is replaced with the sender's busy held.
type line struct {
	mu     sync.Mutex
	closed bool
	socket
}

// replace takes another connection, unless the line is closed.
func (l *line) replace(s socket) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.socket = s
	}
	return !l.closed
}

// hurry ends a write that waits at a time.
func (l *line) hurry(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.socket.SetWriteDeadline(until)
}

// close closes the connection, for good.
func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.socket.Close()
}

// send writes f in one system call, if the socket takes it whole, or what try has
// left of it. A frame that is kept is sent once this returns nil, even if the
// connection broke over it.
func (s *sender) send(f *ring.Frame) error {
	if s.begun {
		return s.finishFrame()
	}
	if s.keeps(f) && !s.kept.reserve(ring.FrameHeaderBytes+len(f.Payload)) {
		<-s.ended
		return s.reason
	}
	s.busy.Lock()
	defer s.busy.Unlock()
	if !s.whole() {
		return s.reason
	}
	s.enter(f)
	return s.wrote(write(s.line.socket, s.head[:], f.Payload))
}

// try is send as far as it needs not wait, and tells whether that is all the way. Of a
// frame that it has begun it goes on with the rest.
func (s *sender) try(f *ring.Frame) bool {
	if !s.busy.TryLock() {
		return false
	}
	defer s.busy.Unlock()
	var whole bool
	var err error
	switch {
	case s.broken || s.over:
		return false
	case s.begun:
		whole, err = s.line.goOn()
	case s.keeps(f) && !s.kept.tryReserve(ring.FrameHeaderBytes+len(f.Payload)):
		return false
	default:
		s.enter(f)
		whole, err = s.line.begin(s.head[:], f.Payload)
	}
	if err != nil {
		s.refuse(err)
	}
	s.begun = !whole
	return whole
}

// finishFrame sends what try has left. If the connection was replaced since, all of it
// has been sent again, and nothing is left.
func (s *sender) finishFrame() error {
	s.busy.Lock()
	defer s.busy.Unlock()
	s.begun = false
	if !s.whole() {
		return s.reason
	}
	return s.wrote(s.line.finish())
}

// keeps tells whether f is kept.
func (s *sender) keeps(f *ring.Frame) bool { return s.kept != nil && f.Kind == ring.KindData }

// enter makes the header of f, which is about to leave, and enters it in the books.
// s.busy is held.
func (s *sender) enter(f *ring.Frame) {
	ring.PutFrameHeader(s.head[:], f, s.payloadCRC)
	if f.Kind != ring.KindData {
		return
	}
	due := s.sent.Add(f)
	if s.kept != nil {
		s.kept.add(delivery.At(f), s.head[:], f.Payload, due)
	}
}

// wrote returns why the frame that was written, or not, is not sent. s.busy is held.
func (s *sender) wrote(err error) error {
	if err == nil {
		return nil
	}
	s.refuse(err)
	if !s.whole() {
		return s.reason
	}
	return nil
}

// whole waits until the stream is at the end of a frame, and tells whether there
// is a connection then. s.busy is held, but not while it waits.
func (s *sender) whole() bool {
	for s.broken && !s.over {
		s.turned.Wait()
	}
	return !s.over
}

// run reads acknowledgements, or serves a pair, until the link ends. It is what repairs the
// connection, also while nobody sends: frames may be lost that were sent already.
func (s *sender) run() {
	listen := s.readAcks
	if s.pair != nil {
		listen = s.pair.serve
	}
	for {
		err := listen()
		listen = s.readAcks
		s.line.socket.Close() // ends a write that blocks
		s.busy.Lock()
		s.broken = true
		err, s.refusal = why(err, s.refusal), nil
		s.busy.Unlock()
		s.pair.end(err)
		if err = s.mend(err); err != nil {
			s.finish(err)
			s.aborts.Tell(err)
			return
		}
	}
}

// why returns why a connection has broken. What the neighbour said or did last
// tells more than the error of a write; but a reset is reported by the kernel
// only once, here or there.
func why(read, write error) error {
	switch silent := errors.Is(read, os.ErrDeadlineExceeded); {
	case write == nil:
		return read
	case !silent && (errors.Is(write, net.ErrClosed) || errors.Is(write, syscall.EPIPE)):
		return read // write says only that the connection has ended before
	case silent || read == io.EOF:
		return write // the neighbour has said nothing
	}
	return read
}

// finish ends the link.
func (s *sender) finish(reason error) {
	s.busy.Lock()
	s.over, s.reason = true, reason
	s.turned.Broadcast()
	s.busy.Unlock()
	close(s.ended)
	if s.kept != nil {
		s.kept.end()
	}
}

// hear has run go on by a time, with the neighbour's last word if there is one.
func (s *sender) hear(until time.Time) {
	if s.pair.stands() {
		s.pair.giveUp(until)
	} else {
		s.line.SetReadDeadline(until)
	}
}

// readAcks reads acknowledgements until something else comes.
func (s *sender) readAcks() error {
	r := reader{src: s.line.socket}
	for {
		f, err := r.next(nil)
		switch {
		case err != nil:
			return err
		case f.Kind == ring.KindClose:
			return delivery.ErrGoodbye
		case f.Kind != ring.KindAck:
			return fmt.Errorf("%w: kind %d where acknowledgements come", ring.ErrCorruptFrame, f.Kind)
		}
		if err := s.acknowledged(&f); err != nil {
			return err
		}
	}
}

// acknowledged enters an acknowledgement that has come.
func (s *sender) acknowledged(f *ring.Frame) error {
	if err := s.sent.Ack(f); err != nil {
		return err
	}
	if s.kept != nil {
		return s.kept.drop(delivery.At(f))
	}
	return nil
}

// acknowledge writes an acknowledgement, for the other half of a pair.
func (s *sender) acknowledge(f *ring.Frame) {
	s.busy.Lock()
	defer s.busy.Unlock()
	if s.broken {
		return
	}
	err := s.line.finish() // the frame that try has begun
	if err == nil {
		ring.PutFrameHeader(s.head[:], f, false)
		err = write(s.line.socket, s.head[:], nil)
	}
	if err != nil {
		s.refuse(err)
	}
}

// refuse enters that a write has failed. Who receives may hear nothing of it.
func (s *sender) refuse(err error) {
	s.broken, s.refusal = true, err
	s.hear(time.Now().Add(reasonTimeout)) // why
	if s.pair.stands() {
		broken := s.line.socket
		time.AfterFunc(2*reasonTimeout, func() { s.pair.end(err); broken.Close() })
	}
}

// quiet tells whether no frame is on its way and the stream is whole.
func (s *sender) quiet() bool {
	if !s.busy.TryLock() {
		return false
	}
	defer s.busy.Unlock()
	return !s.broken && !s.begun && (s.kept == nil || !s.kept.busy())
}

// close writes a last frame and ends the connection when the neighbour has acknowledged
// what is due. If a frame is on its way, or was cut off, the stream has no good
// end and is closed at once, unless the last frame is one before which the rest goes.
func (s *sender) close(last delivery.Farewell) {
	if s.redialer != nil {
		s.redialer.stop()
	}
	if last.Rest {
		s.line.hurry(time.Now().Add(abortTimeout)) // whoever is writing
		s.busy.Lock()
		s.sayLast(last)
	} else if s.quiet() && s.busy.TryLock() {
		s.sayLast(last)
	}
	s.line.close()
	s.pair.end(net.ErrClosed)
	<-s.ended
}

// sayLast writes a last frame where the stream is whole, and then waits for what is due. It
// unlocks s.busy, which is held.
func (s *sender) sayLast(last delivery.Farewell) {
	said := !last.Cut && !s.broken && (!s.begun || last.Rest && s.line.finish() == nil) && say(s.line.socket, last)
	s.broken = true // nothing follows
	if said {
		if s.pair != nil {
			s.pair.closing.Store(true)
		}
		s.hear(time.Now().Add(lingerTimeout))
	}
	s.busy.Unlock()
	if said {
		select {
		case <-s.sent.Settled():
		case <-s.ended:
		case <-time.After(lingerTimeout): // somebody receives, and in vain
		}
	}
}

// say writes a last frame and tells whether it is written.
func say(c net.Conn, last delivery.Farewell) bool {
	c.SetWriteDeadline(time.Now().Add(goodbyeTimeout))
	_, err := c.Write(last.Bytes)
	return err == nil
}
