package launch

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"
)

const (
	// mostHeldBytes is what waits for a reader that is slow; then the ranks wait.
	queueLimit = 1 << 20
	// mostLeftBytes is what waits for one when the ranks must not wait any more.
	finalQueueLimit = 64 << 20
	// unreadTime bounds the wait for a reader that takes nothing, once all is over.
	unreadTimeout = 5 * time.Second
	// lastTime bounds the wait for who does not even read that.
	noticeTimeout = time.Second
)

// outlet is where the lines of all ranks come together. Each Write to out or err is
// of whole lines, and one at a time if both are the same terminal.
//
// Each of the two has a feed with bounds of its own, so that people read standard error
// while nobody takes standard output. What comes from other hosts never waits here, but
// for credit there (credit.go). Only where both lead to the same place there is
// one feed, which keeps the order between them. While the job goes on, it is the ranks
// that wait for a reader. From when they are to end nobody does for long. A reader that
// has closed the pipe, as head does, wants no more: the job goes on without it.
//
// What people should know has a third feed: nobody ever waits for them to read it.
type outputMux struct {
	sinks   [2]*sink       // out, err
	queues  [2]*writeQueue // theirs
	notices *writeQueue
	people  io.Writer
}

// newOutlet starts an outlet, which must be closed. With one, out and err lead to the
// same place. What people should know is told to notice.
func newOutputMux(out, err io.Writer, one bool, notice func(string)) *outputMux {
	o := &outputMux{notices: newWriteQueue(queueLimit, true), people: noticeWriter(notice)}
	o.sinks = [2]*sink{{w: out, onClosed: func() {
		o.tell("nobody reads the standard output any more: the job goes on without")
	}}, {w: err, onClosed: func() {}}}
	o.queues[0] = newWriteQueue(queueLimit, false)
	if o.queues[1] = o.queues[0]; !one {
		o.queues[1] = newWriteQueue(queueLimit, false)
	}
	return o
}

// output is where one of the two goes. Its Write is for one goroutine.
type sink struct {
	w        io.Writer
	onClosed func() // called when the reader has closed

	mu     sync.Mutex
	failed error
}

// Write never fails for who calls it: the ranks must not block.
func (o *sink) Write(text []byte) (int, error) {
	if _, err := o.w.Write(text); err != nil {
		o.w = io.Discard
		o.fail(err)
	}
	return len(text), nil
}

func (o *sink) fail(err error) {
	if errors.Is(err, syscall.EPIPE) {
		o.onClosed()
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = err
}

func (o *sink) firstFault() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

// noticed gives to a function, which may be nil, what is written.
type noticeWriter func(string)

func (n noticeWriter) Write(text []byte) (int, error) {
	if n != nil {
		n(string(text))
	}
	return len(text), nil
}

// write takes whole lines for one of the two outputs. With paid, which may be nil, it
// waits for nobody, and calls it when there is room.
func (o *outputMux) write(toErr bool, text []byte, paid func()) {
	i := 0
	if toErr {
		i = 1
	}
	if paid == nil {
		o.queues[i].write(o.sinks[i], text)
	} else {
		o.queues[i].enqueue(o.sinks[i], text, paid)
	}
}

// tell takes what people should know. It waits for nobody.
func (o *outputMux) tell(line string) { o.notices.write(o.people, []byte(line)) }

// lift lets the queues grow. With shed nobody waits for a reader from now on: what is
// to come is of ranks that are to end, or what those that have ended left in their
// pipes.
func (o *outputMux) raiseLimit(shed bool) {
	for _, f := range o.queues {
		f.raiseLimit(finalQueueLimit, shed)
	}
}

// close returns when all is written, with the first fault, or when nothing moves any
// more. It tells whether nobody has read the last of the standard output.
func (o *outputMux) close() (unread bool, err error) {
	var read [2]bool
	var both sync.WaitGroup
	for i, f := range o.queues {
		both.Go(func() { read[i] = f.close(unreadTimeout) })
	}
	both.Wait()
	if !read[0] || !read[1] {
		o.tell(fmt.Sprintf("the last lines of the ranks are lost: for %v nobody has read them", unreadTimeout))
	} else if n := o.droppedBytes(); n > 0 {
		o.tell(fmt.Sprintf("%d bytes of what the ranks have written are lost: they were not read in time", n))
	}
	o.notices.close(noticeTimeout)
	return !read[0], cmp.Or(o.sinks[0].firstFault(), o.sinks[1].firstFault())
}

// missed is how many bytes of the ranks found no room.
func (o *outputMux) droppedBytes() int {
	n := o.queues[0].dropped()
	if o.queues[1] != o.queues[0] {
		n += o.queues[1].dropped()
	}
	return n
}
