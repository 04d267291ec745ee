package rendezvous

import (
	"errors"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/journal"
	"ringtrain/ring/rendezvous/state"
)

// writeJournal writes records to the journal, one after the other, and performs the effects that
// waited for each. Only this goroutine waits for the disk.
func (s *Server) writeJournal() {
	for {
		r := s.nextRecord()
		if r == nil {
			select {
			case <-s.recordQueued:
				continue
			case <-s.ctx.Done():
				return
			}
		}
		s.recordWritten(s.config.Journal.Append(r))
	}
}

// nextRecord returns the record to be written, nil if there is none.
func (s *Server) nextRecord() state.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.writingSince = time.Now()
	return s.backlog.Record()
}

// journalDelay returns how long the journal has been writing one record, 0 if it is idle. It is
// called with s.mu held.
func (s *Server) journalDelay() time.Duration {
	if s.backlog.Record() == nil {
		return 0
	}
	return max(time.Since(s.writingSince), 1)
}

// recordWritten handles the result of a write. Effects that wait for a record that is not durable
// are dropped, with two exceptions: after an abandoned journal they take place, because no
// rendezvous continues from it, and the end of a job is always sent.
func (s *Server) recordWritten(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	switch {
	case err == nil:
		s.performAll(s.backlog.Written())
	case errors.Is(err, journal.ErrSuperseded):
		s.closed = true
		s.cancel()
	case errors.Is(err, journal.ErrAbandoned):
		s.journalAbandoned = true
		s.performAll(s.backlog.Clear())
		s.perform(s.state.Step(time.Since(s.started), state.JournalAbandoned{Reason: err.Error()}))
	default:
		s.journalAbandoned = true
		if all := s.backlog.Clear(); s.state.Finished() {
			s.performAll(all)
			return
		}
		c := &ring.Cause{Rank: -1, Step: -1, Operation: "journal", Text: err.Error(), ExitCode: exitcode.Of(err)}
		s.perform(s.state.Step(time.Since(s.started), state.Aborted{Cause: c}))
	}
}

// Durable reports whether a rendezvous that is restarted with the journal continues the job.
func (s *Server) Durable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config.Journal != nil && !s.journalAbandoned
}

// perform performs the effects of a step, in order. Effects after a record wait until the record is
// durable. It is called with s.mu held.
func (s *Server) perform(effects []state.Effect) {
	if s.config.Journal == nil || s.journalAbandoned {
		s.performAll(state.WithoutRecords(effects))
		return
	}
	s.performAll(s.backlog.Push(effects))
	if s.backlog.Record() != nil {
		select {
		case s.recordQueued <- struct{}{}:
		default:
		}
	}
}

func (s *Server) performAll(effects []state.Effect) {
	for _, f := range effects {
		s.performOne(f)
	}
}
