package state

import (
	"fmt"
	"time"
)

// Backlog holds the effects that wait for the journal, in order. No effect after a record takes
// place before the record is durable. Meanwhile the state goes on: a disk may be slow, and workers
// must be heard and answered.
type Backlog struct{ effects []Effect } // empty, or begins with a Persist

// Push adds the effects of a step and returns those that need not wait.
func (b *Backlog) Push(effects []Effect) []Effect {
	var now []Effect
	for _, f := range effects {
		_, keep := f.(Persist)
		if keep || len(b.effects) > 0 && !mayPrecedeRecord(f) {
			b.effects = append(b.effects, f)
		} else {
			now = append(now, f)
		}
	}
	return now
}

// mayPrecedeRecord reports whether effect f does not depend on any record.
func mayPrecedeRecord(f Effect) bool {
	switch f.(type) {
	case SendNotice, Notify, Probe, SetLease:
		return true
	}
	return false
}

// Record returns the record to be written next, nil if there is none.
func (b *Backlog) Record() Record {
	if len(b.effects) == 0 {
		return nil
	}
	return b.effects[0].(Persist).Record
}

// Written removes that record and returns the effects that waited for it alone.
func (b *Backlog) Written() []Effect {
	n := 1
	for n < len(b.effects) {
		if _, keep := b.effects[n].(Persist); keep {
			break
		}
		n++
	}
	done := b.effects[1:n:n]
	b.effects = b.effects[n:]
	return done
}

// Clear empties the backlog and returns its effects without the records.
func (b *Backlog) Clear() []Effect {
	all := WithoutRecords(b.effects)
	b.effects = nil
	return all
}

func WithoutRecords(effects []Effect) []Effect {
	var rest []Effect
	for _, f := range effects {
		if _, keep := f.(Persist); !keep {
			rest = append(rest, f)
		}
	}
	return rest
}

// While the disk writes a record, no worker knows what the state decided. So the timeouts for
// workers that have to react to a decision do not run. A notice names the journal at once:
// otherwise people would look for a hanging rank.

// Times of a slow journal.
const (
	journalNoticeAfter = 1 * time.Second // a longer write is worth a notice
	journalNoticeEvery = 5 * time.Second // between two notices
)

// noteJournalDelay takes in for how long the journal has been writing.
func (s *State) noteJournalDelay(delay time.Duration) {
	if delay == 0 {
		return
	}
	if s.phase == phaseRecovering {
		s.waitSince, s.generationEnded = s.now, max(s.generationEnded, s.awake)
	}
	if delay >= journalNoticeAfter && s.awake >= s.nextJournalNotice {
		s.nextJournalNotice = s.awake + journalNoticeEvery
		s.notify(fmt.Sprintf("the journal has been writing one record for %s; until then the ranks do not hear of this: %s", wholeSeconds(delay), s.pendingDecision()), nil)
	}
}

// pendingDecision describes the newest record, for people.
func (s *State) pendingDecision() string {
	switch {
	case s.phase == phaseFinished && s.cause == nil:
		return "the end of the job"
	case s.phase == phaseFinished:
		return s.cause.Error()
	case s.phase == phaseRecovering:
		return s.generationCause.Error()
	}
	return fmt.Sprintf("generation %d", s.generation)
}

// abandonJournal goes on without the journal.
func (s *State) abandonJournal(e JournalAbandoned) {
	s.journalAbandoned = true
	s.notify(e.Reason+"; the job goes on, not durable: it ends if this rendezvous is killed or restarted", nil)
}
