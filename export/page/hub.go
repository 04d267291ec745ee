package page

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"ringtrain/export/history"
	"ringtrain/model/train/report"
)

const (
	// maxReaders bounds the readers of a page at one time.
	maxReaders = 16

	// maxPending bounds what waits for a reader that takes nothing.
	maxPending = 1 << 20 // bytes

	// batchBytes is about the size of one write of the history.
	batchBytes = 64 << 10
)

// A hub hands the events of a run to its readers, each at its own pace: a view waits for no reader. Its keeper has
// the thinned history for readers that come late. The zero hub has no events.
type hub struct {
	keeper history.Keeper

	mu      sync.Mutex
	newest  int    // number of the newest event
	status  []byte // the newest one, nil for none
	readers map[*reader]bool
	ended   bool
}

// A reader of a hub. The hub's mutex protects its fields, but for history.
type reader struct {
	history iter.Seq2[int, []byte] // numbers and lines of what was before it came
	pending []byte                 // what it has not taken, as server-sent events
	status  []byte                 // the newest one; nil once it is taken
	wake    chan struct{}          // has a value if there may be something to take
	drop    context.CancelFunc
}

// Load takes the events of an earlier history of the run, before the first event.
func (h *hub) Load(name string) error {
	_, err := history.Each(name, h.Event)
	return err
}

// Event gives an event its number and hands it to all readers.
func (h *hub) Event(s report.Stamped) {
	line, err := report.Line(s.Event, s.Time)
	if err != nil {
		return // it has a line in no view
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.newest = h.keeper.Add(s)
	h.tell(func(r *reader) { r.pending = appendEvent(r.pending, h.newest, line) })
}

// Status hands the state of the rendezvous, a line of JSON, to all readers. A reader that is slow gets the newest one
// alone. Readers take a hub that says nothing for some seconds for a lost one.
func (h *hub) Status(line []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = line
	h.tell(func(r *reader) { r.status = line })
}

// end lets readers leave when they have taken all.
func (h *hub) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	h.tell(func(*reader) {})
}

// tell hands something to each reader and wakes it. It drops a reader for which too much waits already: one large event
// drops none. The caller holds the mutex.
func (h *hub) tell(give func(*reader)) {
	for r := range h.readers {
		if len(r.pending) > maxPending {
			r.drop()
			continue
		}
		give(r)
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// enter adds a reader that has all events up to a number, and that drop ends. It returns nil if there are as many
// readers as there may be.
func (h *hub) enter(after int, drop context.CancelFunc) *reader {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.readers) >= maxReaders {
		return nil
	}
	if after > h.newest {
		after = 0 // the number is of another server
	}
	r := &reader{history: h.keeper.After(after), status: h.status, wake: make(chan struct{}, 1), drop: drop}
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

// stream writes to a reader what was before it came, then what comes, until the run has ended, ctx is done or a write
// fails.
func (h *hub) stream(ctx context.Context, r *reader, write func([]byte) error) error {
	text := []byte("retry: 1000\n\n")
	for number, line := range r.history {
		text = appendEvent(text, number, line)
		if len(text) < batchBytes {
			continue
		}
		if err := write(text); err != nil {
			return err
		}
		text = text[:0]
	}
	for {
		more, ended := h.take(r)
		text = append(text, more...)
		if len(text) > 0 {
			if err := write(text); err != nil {
				return err
			}
			text = text[:0]
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

// take takes what waits for a reader. It reports whether nothing more comes.
func (h *hub) take(r *reader) (text []byte, ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text, r.pending = r.pending, nil
	if r.status != nil {
		text = fmt.Appendf(text, "event: status\ndata: %s\n\n", r.status)
		r.status = nil
	}
	return text, h.ended
}

// appendEvent appends an event as server-sent events have it. line has one newline, at its end.
func appendEvent(dst []byte, number int, line []byte) []byte {
	return fmt.Appendf(dst, "id: %d\ndata: %s\n", number, line)
}
