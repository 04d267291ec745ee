package rendezvous

import (
	"errors"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/journal"
	"ringtrain/ring/rendezvous/state"
)

// write brings records to the journal, one after the other, and does what has waited for
// each. Only this goroutine waits for the disk.
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

// nextRecord is the record to be written, nil if there is none for now.
func (s *Server) nextRecord() state.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.writingSince = time.Now()
	return s.backlog.Record()
}

// behind is how long the journal has been writing one record, 0 if it is not. It is
// called with s.mu held.
func (s *Server) journalDelay() time.Duration {
	if s.backlog.Record() == nil {
		return 0
	}
	return max(time.Since(s.writingSince), 1)
}

// wrote does what comes of a write. What could not be kept must not be known, unless the
// journal was abandoned: then nobody will go on with it. Of the end all hear anyhow.
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

// Durable reports whether a rendezvous that is started again with the journal goes on
// with the job.
func (s *Server) Durable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config.Journal != nil && !s.journalAbandoned
}

// perform does the effects of a step, in order. What is behind a record waits until that
// is durable. It is called with s.mu held.
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
