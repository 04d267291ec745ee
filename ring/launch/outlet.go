package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"
)

const (
	// mostHeldBytes is what waits for a reader that is slow; then the ranks wait.
	mostHeldBytes = 1 << 20
	// mostLeftBytes is what waits for one when the ranks must not wait any more.
	mostLeftBytes = 64 << 20
	// unreadTime bounds the wait for a reader that takes nothing, once all is over.
	unreadTime = 5 * time.Second
)

// outlet is where the lines of all ranks come together. Each Write to out or err is
// of whole lines, and one at a time even if both are the same terminal.
//
// It writes in a goroutine of its own: a reader may stop to read for as long as it
// likes, as a pager does. While the job goes on, it is the ranks that wait then. From
// when they are to end nobody does for long. A reader that has closed the pipe, as
// head does, wants no more: the job goes on without it.
type outlet struct {
	to   [2]io.Writer // out, err; that goroutine's
	err  io.Writer
	tell func(string)

	mu     sync.Mutex // guards what follows
	change sync.Cond  // of any of it
	queue  []piece
	held   int  // bytes in the queue
	most   int  // bound of held
	shed   bool // what is beyond it is lost; else who writes waits
	lost   int  // bytes
	ended  bool // nothing will be written any more
	gone   bool // nobody waits for what is still in the queue
	turns  int  // pieces that were taken
	failed error

	done chan struct{} // closed when all is written
}

// piece is whole lines for one of the two outputs.
type piece struct {
	toErr bool
	text  []byte
}

// newOutlet starts an outlet, which must be closed. What people should know is told.
func newOutlet(out, err io.Writer, tell func(string)) *outlet {
	o := &outlet{to: [2]io.Writer{out, err}, err: err, tell: tell, most: mostHeldBytes, done: make(chan struct{})}
	o.change.L = &o.mu
	go o.deliver()
	return o
}

// write puts text into the queue, when there is room.
func (o *outlet) write(toErr bool, text []byte) {
	if len(text) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.full(text) && !o.shed {
		o.change.Wait()
	}
	if o.gone || o.full(text) {
		o.lost += len(text)
		return
	}
	o.queue = append(o.queue, piece{toErr, bytes.Clone(text)})
	o.held += len(text)
	o.change.Broadcast()
}

// full tells whether there is no room for text. It is called with o.mu held.
func (o *outlet) full(text []byte) bool { return o.held > 0 && o.held+len(text) > o.most }

// lift lets the queue grow. With shed nobody waits for a reader from now on: what is
// to come is of ranks that are to end, or what those that have ended left in their
// pipes.
func (o *outlet) lift(shed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.most, o.shed = mostLeftBytes, o.shed || shed
	o.change.Broadcast()
}

func (o *outlet) deliver() {
	defer close(o.done)
	for {
		p, ok := o.next()
		if !ok {
			return
		}
		i := 0
		if p.toErr {
			i = 1
		}
		if _, err := o.to[i].Write(p.text); err != nil {
			o.to[i] = io.Discard // the ranks must not block
			o.fail(i, err)
		}
	}
}

// next takes a piece from the queue, when there is one; false at the end.
func (o *outlet) next() (piece, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) == 0 && !o.ended {
		o.change.Wait()
	}
	o.turns++
	if len(o.queue) == 0 || o.gone {
		return piece{}, false
	}
	p := o.queue[0]
	o.queue[0] = piece{}
	o.queue = o.queue[1:]
	o.held -= len(p.text)
	o.change.Broadcast()
	return p, true
}

func (o *outlet) fail(i int, err error) {
	if errors.Is(err, syscall.EPIPE) {
		if i == 0 {
			o.tell("nobody reads the standard output any more: the job goes on without")
		}
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		o.failed = err
	}
}

// close returns when all is written, with the first fault, or when nothing moves any
// more: unread.
func (o *outlet) close() (unread bool, err error) {
	o.mu.Lock()
	o.ended, o.most, o.shed = true, mostLeftBytes, true
	o.change.Broadcast()
	turns := o.turns
	o.mu.Unlock()
	timer := time.NewTimer(unreadTime)
	defer timer.Stop()
	for {
		select {
		case <-o.done: // nobody else is there
			if o.lost > 0 {
				o.tell(fmt.Sprintf("%d bytes of what the ranks have written are lost: they were not read in time", o.lost))
			}
			return false, o.failed
		case <-timer.C:
		}
		o.mu.Lock()
		if o.turns == turns {
			o.gone = true
			rest := o.queue
			o.mu.Unlock()
			o.giveUp(rest)
			return true, nil
		}
		turns = o.turns
		o.mu.Unlock()
		timer.Reset(unreadTime)
	}
}

// giveUp tells that what is left is lost. What of it is for people is written all the
// same: it may be the standard output alone that nobody reads.
func (o *outlet) giveUp(rest []piece) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, p := range rest {
			if p.toErr {
				o.err.Write(p.text)
			}
		}
		o.tell(fmt.Sprintf("the last lines of the ranks are lost: for %v nobody has read them", unreadTime))
	}()
	select {
	case <-done:
	case <-time.After(lastTime):
	}
}

// lastTime is what writing of that may take.
const lastTime = time.Second
