package rendezvous

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// memoryJournal is a journal that another rendezvous can take over.
type memoryJournal struct {
	records    []Record
	superseded atomic.Bool
}

func (j *memoryJournal) Records() []Record { return j.records }

func (j *memoryJournal) Append(r Record) error {
	if j.superseded.Load() {
		return fmt.Errorf("fenced: %w", ErrSuperseded)
	}
	j.records = append(j.records, r)
	return nil
}

func (j *memoryJournal) Close() error { return nil }

// TestSupersededServer has a Server lose its journal to another one. It fails if it
// says a word to the workers then: it does not know any more what is true.
func TestSupersededServer(t *testing.T) {
	j := &memoryJournal{}
	s := NewServer(ServerConfig{JobID: "j", WorldSize: 1, Journal: j})
	defer s.Close()
	v := &visitor{s: s, id: 1, ready: make(chan struct{}, 1)}
	s.mu.Lock()
	s.visitors[1] = v
	s.mu.Unlock()
	j.superseded.Store(true)
	s.step(Joined{1, Request{JobID: "j", Rank: 0, WorldSize: 1}})
	wait(t, "the server's end", s.ctx.Done())
	if box := v.take(); len(box) != 0 {
		t.Errorf("a worker is told %v", box)
	}
	if s.ctx.Err() == nil || s.Cause() != nil {
		t.Errorf("streams end: %v, cause %v; want silence", s.ctx.Err(), s.Cause())
	}
}

// TestMarshalRecords fails if a journal elsewhere than in a file reads other records
// than were kept, or takes those of no journal.
func TestMarshalRecords(t *testing.T) {
	var bodies [][]byte
	for _, r := range someRecords() {
		b, err := MarshalRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, b)
	}
	got, err := UnmarshalRecords(bodies)
	if err != nil || len(got) != len(bodies) {
		t.Fatalf("%d records of %d, %v", len(got), len(bodies), err)
	}
	for _, wrong := range [][][]byte{bodies[1:], {bodies[0], bodies[0]}, {{0xff}}, {nil}} {
		if got, err := UnmarshalRecords(wrong); err == nil {
			t.Errorf("%d entries are read as %v", len(wrong), got)
		}
	}
}
