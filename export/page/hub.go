package page

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"ringtrain/export/history"
	"ringtrain/model/train/report"
)

const (
	// maxReaders bounds the readers of a page at one time.
	maxReaders = 16

	// maxUnread is what may be published while a reader takes nothing. It also bounds the newest events
	// that a hub holds as they came.
	maxUnread = 1 << 20 // bytes

	// batchBytes is about the size of one write to a reader.
	batchBytes = 64 << 10
)

// A hub hands the events of a run to readers. It holds the newest events as they came, and in its keeper
// the thinned history. A reader pulls what it has not seen, at its own pace; who publishes waits for none.
type hub struct {
	keeper history.Keeper

	mu       sync.Mutex
	newest   int        // number of the newest event
	recent   []numbered // ascending, at most maxUnread bytes, or one event
	bytes    int        // of recent
	status   []byte     // the newest one
	statuses int        // number of statuses so far
	readers  map[*reader]bool
	ended    bool
}

// numbered is the line of an event and its number.
type numbered struct {
	number int
	line   []byte
}

// A reader of a hub. The hub's mutex protects its fields, but for after.
type reader struct {
	after  int           // number of the last event that it has; of the goroutine that reads
	wake   chan struct{} // has a value if there may be something to read
	drop   context.CancelFunc
	unread int // bytes that were published since its last write ended
	status int // number of the newest status that it has
}

// publish gives an event its number and hands it to all readers.
func (h *hub) publish(s report.Stamped) {
	line, err := report.Line(s.Event, s.Time)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.newest = h.keeper.Add(s)
	if err != nil {
		return // an event that is no JSON has no line in any view
	}
	h.recent = append(h.recent, numbered{h.newest, line})
	h.bytes += len(line)
	drop := 0
	for h.bytes > maxUnread && drop < len(h.recent)-1 {
		h.bytes -= len(h.recent[drop].line)
		drop++
	}
	h.recent = slices.Delete(h.recent, 0, drop)
	h.tell(len(line))
}

// load takes the events before a time of an earlier history, before the first event is published.
func (h *hub) load(name string, before time.Time) error {
	err := h.keeper.Load(name, before)
	for number := range h.keeper.After(0) {
		h.newest = number
	}
	return err
}

// setStatus hands the state of the rendezvous to all readers. A reader gets the newest one alone.
func (h *hub) setStatus(line []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = line
	h.statuses++
	h.tell(0)
}

// end lets readers leave when they have read all.
func (h *hub) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	h.tell(0)
}

// tell wakes the readers, and drops those that take nothing. The caller holds the mutex.
func (h *hub) tell(bytes int) {
	for r := range h.readers {
		r.unread += bytes
		if r.unread > maxUnread {
			r.drop()
		}
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// enter adds a reader that has all events up to a number, and that drop ends. It returns nil if there are as
// many readers as there may be.
func (h *hub) enter(after int, drop context.CancelFunc) *reader {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.readers) >= maxReaders {
		return nil
	}
	if after < 0 || after > h.newest {
		after = 0 // the number is of another server
	}
	r := &reader{after: after, wake: make(chan struct{}, 1), drop: drop}
	if h.readers == nil {
		h.readers = map[*reader]bool{}
	}
	h.readers[r] = true
	return r
}

func (h *hub) leave(r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.readers, r)
}

// took notes that a reader has taken a write.
func (h *hub) took(r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.unread = 0
}

// stream writes to a reader what it lacks of the history, then what comes, until the run has ended, ctx is
// done or a write fails.
func (h *hub) stream(ctx context.Context, r *reader, write func([]byte) error) error {
	text := []byte("retry: 1000\n\n")
	put := func() error {
		err := write(text)
		text = text[:0]
		h.took(r)
		return err
	}
	for {
		if newest, thinned := h.missed(r); thinned {
			for number, line := range h.keeper.After(r.after) {
				r.after, text = number, appendEvent(text, number, line)
				if len(text) < batchBytes {
					continue
				}
				if err := put(); err != nil {
					return err
				}
			}
			r.after = max(r.after, newest)
		}
		var ended bool
		text, ended = h.next(r, text)
		if len(text) > 0 {
			if err := put(); err != nil {
				return err
			}
			continue
		}
		if ended {
			return nil
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// missed returns the number of the newest event. It reports whether the reader lacks events that are no longer
// there as they came.
func (h *hub) missed(r *reader) (newest int, thinned bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.newest, r.after < h.newest && (len(h.recent) == 0 || h.recent[0].number > r.after+1)
}

// next appends what the reader lacks of the newest events, a batch at a time.
func (h *hub) next(r *reader, text []byte) (_ []byte, ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.recent {
		if e.number <= r.after {
			continue
		}
		r.after, text = e.number, appendEvent(text, e.number, e.line)
		if len(text) >= batchBytes {
			return text, false
		}
	}
	if r.status != h.statuses {
		r.status = h.statuses
		text = fmt.Appendf(text, "event: status\ndata: %s\n\n", h.status)
	}
	return text, h.ended
}

// appendEvent appends an event as server-sent events have it. line has one newline, at its end.
func appendEvent(dst []byte, number int, line []byte) []byte {
	return fmt.Appendf(dst, "id: %d\ndata: %s\n", number, line)
}
