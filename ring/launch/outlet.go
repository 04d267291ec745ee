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
	mostHeldBytes = 1 << 20
	// mostLeftBytes is what waits for one when the ranks must not wait any more.
	mostLeftBytes = 64 << 20
	// unreadTime bounds the wait for a reader that takes nothing, once all is over.
	unreadTime = 5 * time.Second
	// lastTime bounds the wait for who does not even read that.
	lastTime = time.Second
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
type outlet struct {
	outputs [2]*output // out, err
	feeds   [2]*feed   // theirs
	notices *feed
	people  io.Writer
}

// newOutlet starts an outlet, which must be closed. With one, out and err lead to the
// same place. What people should know is told to notice.
func newOutlet(out, err io.Writer, one bool, notice func(string)) *outlet {
	o := &outlet{notices: newFeed(mostHeldBytes, true), people: noticed(notice)}
	o.outputs = [2]*output{{w: out, unheard: func() {
		o.tell("nobody reads the standard output any more: the job goes on without")
	}}, {w: err, unheard: func() {}}}
	o.feeds[0] = newFeed(mostHeldBytes, false)
	if o.feeds[1] = o.feeds[0]; !one {
		o.feeds[1] = newFeed(mostHeldBytes, false)
	}
	return o
}

// output is where one of the two goes. Its Write is for one goroutine.
type output struct {
	w       io.Writer
	unheard func() // called when the reader has closed

	mu     sync.Mutex
	failed error
}

// Write never fails for who calls it: the ranks must not block.
func (o *output) Write(text []byte) (int, error) {
	if _, err := o.w.Write(text); err != nil {
		o.w = io.Discard
		o.fail(err)
	}
	return len(text), nil
}

func (o *output) fail(err error) {
	if errors.Is(err, syscall.EPIPE) {
		o.unheard()
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = err
}

func (o *output) fault() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

// noticed gives to a function, which may be nil, what is written.
type noticed func(string)

func (n noticed) Write(text []byte) (int, error) {
	if n != nil {
		n(string(text))
	}
	return len(text), nil
}

// write takes whole lines for one of the two outputs. With paid, which may be nil, it
// waits for nobody, and calls it when there is room.
func (o *outlet) write(toErr bool, text []byte, paid func()) {
	i := 0
	if toErr {
		i = 1
	}
	if paid == nil {
		o.feeds[i].write(o.outputs[i], text)
	} else {
		o.feeds[i].owe(o.outputs[i], text, paid)
	}
}

// tell takes what people should know. It waits for nobody.
func (o *outlet) tell(line string) { o.notices.write(o.people, []byte(line)) }

// lift lets the queues grow. With shed nobody waits for a reader from now on: what is
// to come is of ranks that are to end, or what those that have ended left in their
// pipes.
func (o *outlet) lift(shed bool) {
	for _, f := range o.feeds {
		f.lift(mostLeftBytes, shed)
	}
}

// close returns when all is written, with the first fault, or when nothing moves any
// more. It tells whether nobody has read the last of the standard output.
func (o *outlet) close() (unread bool, err error) {
	var read [2]bool
	var both sync.WaitGroup
	for i, f := range o.feeds {
		both.Go(func() { read[i] = f.close(unreadTime) })
	}
	both.Wait()
	if !read[0] || !read[1] {
		o.tell(fmt.Sprintf("the last lines of the ranks are lost: for %v nobody has read them", unreadTime))
	} else if n := o.missed(); n > 0 {
		o.tell(fmt.Sprintf("%d bytes of what the ranks have written are lost: they were not read in time", n))
	}
	o.notices.close(lastTime)
	return !read[0], cmp.Or(o.outputs[0].fault(), o.outputs[1].fault())
}

// missed is how many bytes of the ranks found no room.
func (o *outlet) missed() int {
	n := o.feeds[0].missed()
	if o.feeds[1] != o.feeds[0] {
		n += o.feeds[1].missed()
	}
	return n
}
