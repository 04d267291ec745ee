package rendezvous

import (
	"fmt"
	"sync/atomic"
	"testing"

	"ringtrain/ring/rendezvous/journal"
	"ringtrain/ring/rendezvous/state"
)

// memoryJournal is a journal that another rendezvous can take over.
type memoryJournal struct {
	records    []state.Record
	superseded atomic.Bool
}

func (j *memoryJournal) Records() []state.Record { return j.records }

func (j *memoryJournal) Append(r state.Record) error {
	if j.superseded.Load() {
		return fmt.Errorf("fenced: %w", journal.ErrSuperseded)
	}
	j.records = append(j.records, r)
	return nil
}

func (j *memoryJournal) Close() error { return nil }

// TestSupersededServer verifies that a server that loses its journal sends nothing more: its state
// is not the newest any more.
func TestSupersededServer(t *testing.T) {
	j := &memoryJournal{}
	s := NewServer(ServerConfig{JobID: "j", WorldSize: 1, Journal: j})
	defer s.Close()
	v := &clientStream{s: s, id: 1, queued: make(chan struct{}, 1)}
	s.mu.Lock()
	s.clients[1] = v
	s.mu.Unlock()
	j.superseded.Store(true)
	s.step(state.Joined{Stream: 1, Request: state.Request{JobID: "j", Rank: 0, WorldSize: 1}})
	wait(t, "the server's end", s.ctx.Done())
	if box := v.takeQueue(); len(box) != 0 {
		t.Errorf("a worker is told %v", box)
	}
	if s.ctx.Err() == nil || s.Cause() != nil {
		t.Errorf("streams end: %v, cause %v; want silence", s.ctx.Err(), s.Cause())
	}
}
