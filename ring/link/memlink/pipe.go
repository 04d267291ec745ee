package memlink

import (
	"sync"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// depth is the number of frames that a pipe holds.
const depth = 4

// pipe is a queue of frames from one rank to the next. Its slots keep their
// memory.
type pipe struct {
	mu             sync.Mutex
	notFull        sync.Cond
	notEmpty       sync.Cond
	slots          [depth]ring.Frame
	first, n       int   // the oldest frame, and the number of frames
	senderClosed   bool  // no frame will come
	receiverClosed bool  // no frame will be taken
	senderWhy      error // returned to the receiver after senderClosed
	receiverWhy    error // returned to the sender after receiverClosed

	sender, receiver delivery.AbortNotifier
}

func newPipe() *pipe {
	p := &pipe{}
	p.notFull.L, p.notEmpty.L = &p.mu, &p.mu
	return p
}

// put appends f. Only one goroutine calls put, so the slot behind the last frame belongs to
// it, and put copies without the lock.
func (p *pipe) put(f ring.Frame) error {
	s, err := p.free()
	if err != nil {
		return err
	}
	f.Payload = append(s.Payload[:0], f.Payload...)
	*s = f
	p.mu.Lock()
	p.n++
	p.mu.Unlock()
	p.notEmpty.Signal()
	return nil
}

// free waits for a free slot.
func (p *pipe) free() (*ring.Frame, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.n == depth && !p.senderClosed && !p.receiverClosed {
		p.notFull.Wait()
	}
	switch {
	case p.senderClosed:
		return nil, ring.ErrClosed
	case p.receiverClosed:
		return nil, p.receiverWhy
	}
	return &p.slots[(p.first+p.n)%depth], nil
}

// get takes the oldest frame. Only one goroutine calls get, so the slot belongs to it until
// get has copied.
func (p *pipe) get(into []byte) (ring.Frame, error) {
	s, err := p.oldest()
	if err != nil {
		return ring.Frame{}, err
	}
	f := *s
	if len(f.Payload) > len(into) {
		return ring.Frame{}, ring.TooLong(f, len(f.Payload), len(into))
	}
	f.Payload = into[:copy(into, f.Payload)]
	p.mu.Lock()
	p.first, p.n = (p.first+1)%depth, p.n-1
	p.mu.Unlock()
	p.notFull.Signal()
	return f, nil
}

// oldest waits for a frame.
func (p *pipe) oldest() (*ring.Frame, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.n == 0 && !p.senderClosed && !p.receiverClosed {
		p.notEmpty.Wait()
	}
	switch {
	case p.receiverClosed:
		return nil, ring.ErrClosed
	case p.n == 0:
		return nil, p.senderWhy
	}
	return &p.slots[p.first], nil
}

// closeSender closes the sending end. The receiver gets why.
func (p *pipe) closeSender(why error) {
	p.mu.Lock()
	if !p.senderClosed {
		p.senderClosed, p.senderWhy = true, why
	}
	p.mu.Unlock()
	p.wake()
	p.receiver.Notify(why)
}

// closeReceiver closes the receiving end. The sender gets why.
func (p *pipe) closeReceiver(why error) {
	p.mu.Lock()
	if !p.receiverClosed {
		p.receiverClosed, p.receiverWhy = true, why
	}
	p.mu.Unlock()
	p.wake()
	p.sender.Notify(why)
}

func (p *pipe) wake() {
	p.notFull.Broadcast()
	p.notEmpty.Broadcast()
}
