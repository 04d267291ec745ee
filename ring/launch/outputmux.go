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
	// queueLimit bounds the bytes that wait for a slow reader; beyond it the ranks wait.
	queueLimit = 1 << 20
	// finalQueueLimit is the bound once the ranks must not wait any more.
	finalQueueLimit = 64 << 20
	// unreadTimeout bounds the wait for a reader that does not read, after the job.
	unreadTimeout = 5 * time.Second
	// noticeTimeout bounds the wait for a reader of the notice about that.
	noticeTimeout = time.Second
)

// outputMux merges the lines of all ranks. Each Write to out or err is of whole lines. Only
// one Write runs at a time if both are the same terminal.
//
// Each of the two has a queue with bounds of its own, so that people read standard error
// while standard output is not read. Output from other hosts never waits here: its agents
// wait for credit. If both outputs lead to the same place they share a queue, which keeps
// their order.
//
// While the job goes on, the ranks wait for a slow reader. Once they are to end, they wait
// no longer. A reader that has closed its pipe, as head does, wants no more, and the job
// goes on without it.
//
// Notices for people have a third queue, which never blocks the writer.
type outputMux struct {
	sinks   [2]*sink       // out, err
	queues  [2]*writeQueue // of the sinks
	notices *writeQueue
	people  io.Writer
}

// newOutputMux starts an outputMux, which must be closed. With one, out and err lead to the
// same place. notice receives the notices for people.
func newOutputMux(out, err io.Writer, one bool, notice func(string)) *outputMux {
	o := &outputMux{notices: newWriteQueue(queueLimit, true), people: noticeWriter(notice)}
	o.sinks = [2]*sink{{w: out, onClosed: func() {
		o.tell("nobody reads the standard output any more: the job goes on without")
	}}, {w: err, onClosed: func() {}}}
	o.queues[0] = newWriteQueue(queueLimit, false)
	o.queues[1] = o.queues[0]
	if !one {
		o.queues[1] = newWriteQueue(queueLimit, false)
	}
	return o
}

// sink is the end of one output. Its Write is for one goroutine.
type sink struct {
	w        io.Writer
	onClosed func() // called when the reader has closed its pipe

	mu     sync.Mutex
	failed error
}

// Write never fails, because the ranks must not block: after a fault the sink discards its
// output.
func (s *sink) Write(text []byte) (int, error) {
	if _, err := s.w.Write(text); err != nil {
		s.w = io.Discard
		s.fail(err)
	}
	return len(text), nil
}

// fail records the fault of a Write.
func (s *sink) fail(err error) {
	if errors.Is(err, syscall.EPIPE) {
		s.onClosed()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = err
}

// firstFault returns the fault of a Write, if one has failed.
func (s *sink) firstFault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// noticeWriter passes what is written to a function, which may be nil.
type noticeWriter func(string)

func (n noticeWriter) Write(text []byte) (int, error) {
	if n != nil {
		n(string(text))
	}
	return len(text), nil
}

// write queues whole lines for one of the two outputs. Without accepted it waits for
// room. With accepted it does not wait: it calls accepted when there is room.
func (o *outputMux) write(toErr bool, text []byte, accepted func()) {
	i := 0
	if toErr {
		i = 1
	}
	if accepted == nil {
		o.queues[i].write(o.sinks[i], text)
	} else {
		o.queues[i].enqueue(o.sinks[i], text, accepted)
	}
}

// tell queues a notice for people. It never waits.
func (o *outputMux) tell(line string) { o.notices.write(o.people, []byte(line)) }

// raiseLimit lets the queues grow. With dropping no writer waits any more: the lines to
// come are those of ranks that end.
func (o *outputMux) raiseLimit(dropping bool) {
	for _, f := range o.queues {
		f.raiseLimit(finalQueueLimit, dropping)
	}
}

// close returns when all is written, or when no reader has read for unreadTimeout. It
// returns the first fault, and whether the end of the standard output was not read.
func (o *outputMux) close() (unread bool, err error) {
	var read [2]bool
	var both sync.WaitGroup
	for i, f := range o.queues {
		both.Go(func() { read[i] = f.close(unreadTimeout) })
	}
	both.Wait()
	if !read[0] || !read[1] {
		o.tell(fmt.Sprintf("the last lines of the ranks are lost: they were not read for %v", unreadTimeout))
	} else if n := o.droppedBytes(); n > 0 {
		o.tell(fmt.Sprintf("%d bytes of what the ranks have written are lost: they were not read in time", n))
	}
	o.notices.close(noticeTimeout)
	return !read[0], cmp.Or(o.sinks[0].firstFault(), o.sinks[1].firstFault())
}

// droppedBytes returns how many bytes of the ranks were dropped.
func (o *outputMux) droppedBytes() int {
	n := o.queues[0].dropped()
	if o.queues[1] != o.queues[0] {
		n += o.queues[1].dropped()
	}
	return n
}
