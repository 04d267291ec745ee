package rendezvous

import (
	"fmt"
	"time"
)

// A disk may take long to write a record. Then what was decided is known to nobody yet:
// the clocks by which workers are judged for what they were told stand still. People are
// told at once what it is, for they would look for a rank that hangs.

// Times of a journal that is slow.
const (
	slowJournal      = 1 * time.Second // a write for so long is worth a word
	slowJournalEvery = 5 * time.Second // between two words
)

// awaitJournal takes in for how long the journal has been writing.
func (s *State) awaitJournal(behind time.Duration) {
	if behind == 0 {
		return
	}
	if s.phase == recovering {
		s.began, s.endedAt = s.now, max(s.endedAt, s.awake)
	}
	if behind >= slowJournal && s.awake >= s.slow {
		s.slow = s.awake + slowJournalEvery
		s.warn(fmt.Sprintf("the journal has not been written for %s; until it is the ranks are not told: %s", wholeSeconds(behind), s.decided()), nil)
	}
}

// decided is what the newest record is about, for people.
func (s *State) decided() string {
	switch {
	case s.phase == finished && s.cause == nil:
		return "the end of the job"
	case s.phase == finished:
		return s.cause.Error()
	case s.phase == recovering:
		return s.why.Error()
	}
	return fmt.Sprintf("generation %d", s.generation)
}

// goOnUnkept goes on without the journal.
func (s *State) goOnUnkept(e Unkept) {
	s.unkept = true
	s.warn(e.Why+"; the job goes on, not durable: it ends if this rendezvous is killed or restarted", nil)
}
