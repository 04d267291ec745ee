package launch

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// feed writes pieces of whole lines, one after the other, in a goroutine of its own:
// whoever reads them may stop to read for as long as it likes, as a pager does.
type feed struct {
	mu     sync.Mutex // guards what follows
	change sync.Cond  // of any of it
	queue  []piece
	held   int  // bytes in the queue, those apart that are owed
	owing  int  // pieces in the queue that are
	most   int  // bound of held
	shed   bool // what is beyond it is lost; else who writes waits
	lost   int  // bytes
	ended  bool // nothing will be written any more
	gone   bool // nobody waits for what is still in the queue
	turns  int  // pieces that were taken

	done chan struct{} // closed when all is written
}

// piece is whole lines for one output.
type piece struct {
	to   io.Writer
	text []byte
	owed func() // nil: it counts; else called when it does, or is written
}

// newFeed starts a feed, which must be closed.
func newFeed(most int, shed bool) *feed {
	f := &feed{most: most, shed: shed, done: make(chan struct{})}
	f.change.L = &f.mu
	go f.deliver()
	return f
}

// write puts text into the queue, when there is room.
func (f *feed) write(to io.Writer, text []byte) {
	if len(text) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.full(text) && !f.shed {
		f.change.Wait()
	}
	f.put(to, text)
}

// owe is write for who must not wait and has a bound of its own: paid is called at once
// if there is room for text, and not later than when it is written or lost. Behind what is
// owed all else is, too, even if it completes no line: the line may come to be long.
func (f *feed) owe(to io.Writer, text []byte, paid func()) {
	if f.queued(to, text, paid) {
		paid()
	}
}

// queued tells whether what is to be called when text is queued is to be called now.
func (f *feed) queued(to io.Writer, text []byte, paid func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.shed && (f.owing > 0 || f.full(text)) {
		f.owing++
		f.queue = append(f.queue, piece{to, bytes.Clone(text), paid})
		f.change.Broadcast()
		return false
	}
	if len(text) > 0 {
		f.put(to, text)
	}
	return true
}

// put puts text into the queue, or drops it where nobody waits for room. It is called
// with f.mu held.
func (f *feed) put(to io.Writer, text []byte) {
	if f.gone || f.full(text) {
		f.lost += len(text)
		return
	}
	f.queue = append(f.queue, piece{to, bytes.Clone(text), nil})
	f.held += len(text)
	f.change.Broadcast()
}

// full tells whether there is no room for text. It is called with f.mu held.
func (f *feed) full(text []byte) bool { return f.held > 0 && f.held+len(text) > f.most }

// lift lets the queue grow to most bytes. With shed nobody waits from now on.
func (f *feed) lift(most int, shed bool) {
	for _, paid := range f.raise(most, shed) {
		paid()
	}
}

// raise is lift, but for the calls to those for whom there is room now.
func (f *feed) raise(most int, shed bool) (paid []func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.most, f.shed = most, f.shed || shed
	f.change.Broadcast()
	for i := range f.queue {
		p := &f.queue[i]
		if p.owed != nil && (f.shed || !f.full(p.text)) {
			f.held += len(p.text)
			f.owing--
			paid, p.owed = append(paid, p.owed), nil
		}
	}
	return paid
}

func (f *feed) deliver() {
	defer close(f.done)
	for {
		p, ok := f.next()
		if !ok {
			return
		}
		if len(p.text) > 0 {
			p.to.Write(p.text)
		}
		if p.owed != nil {
			p.owed()
		}
	}
}

// next takes a piece from the queue, when there is one; false at the end.
func (f *feed) next() (piece, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.queue) == 0 && !f.ended {
		f.change.Wait()
	}
	f.turns++
	if len(f.queue) == 0 || f.gone {
		return piece{}, false
	}
	p := f.queue[0]
	f.queue[0] = piece{}
	f.queue = f.queue[1:]
	if p.owed == nil {
		f.held -= len(p.text)
	} else {
		f.owing--
	}
	f.change.Broadcast()
	return p, true
}

// close returns when all is written, or false when for so long nothing has moved: what
// is left is lost then. It may be called by several goroutines.
func (f *feed) close(patience time.Duration) bool {
	f.lift(mostLeftBytes, true)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for turns := f.end(); ; {
		select {
		case <-f.done:
			return true
		case <-timer.C:
		}
		var stuck bool
		if turns, stuck = f.stuck(turns); stuck {
			return false
		}
		timer.Reset(patience)
	}
}

// end says that nothing will be written any more. It returns the turns so far.
func (f *feed) end() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.change.Broadcast()
	return f.turns
}

// stuck gives up what is in the queue if nothing was taken since turns. It returns
// the turns so far.
func (f *feed) stuck(turns int) (int, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = f.turns == turns
	return f.turns, f.gone
}

// missed is how many bytes found no room.
func (f *feed) missed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}
