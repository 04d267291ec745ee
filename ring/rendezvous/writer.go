package rendezvous

import (
	"errors"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// write brings records to the journal, one after the other, and does what has waited for
// each. Only this goroutine waits for the disk.
func (s *Server) write() {
	for {
		r := s.nextRecord()
		if r == nil {
			select {
			case <-s.recorded:
				continue
			case <-s.ctx.Done():
				return
			}
		}
		s.wrote(s.c.Journal.Append(r))
	}
}

// nextRecord is the record to be written, nil if there is none for now.
func (s *Server) nextRecord() Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.writing = time.Now()
	return s.backlog.record()
}

// behind is how long the journal has been writing one record, 0 if it is not. It is
// called with s.mu held.
func (s *Server) behind() time.Duration {
	if s.backlog.record() == nil {
		return 0
	}
	return max(time.Since(s.writing), 1)
}

// wrote does what comes of a write. What could not be kept must not be known, unless the
// journal was abandoned: then nobody will go on with it. Of the end all hear anyhow.
func (s *Server) wrote(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	switch {
	case err == nil:
		s.doAll(s.backlog.written())
	case errors.Is(err, ErrSuperseded):
		s.closed = true
		s.cancel()
	case errors.Is(err, ErrAbandoned):
		s.unkept = true
		s.doAll(s.backlog.clear())
		s.perform(s.state.Step(time.Since(s.since), Unkept{err.Error()}))
	default:
		s.unkept = true
		if all := s.backlog.clear(); s.state.phase == finished {
			s.doAll(all)
			return
		}
		c := &ring.Cause{Rank: -1, Step: -1, Operation: "journal", Text: err.Error(), ExitCode: exitcode.Of(err)}
		s.perform(s.state.Step(time.Since(s.since), Aborted{Cause: c}))
	}
}

// Durable reports whether a rendezvous that is started again with the journal goes on
// with the job.
func (s *Server) Durable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.c.Journal != nil && !s.unkept
}

// perform does the effects of a step, in order. What is behind a record waits until that
// is durable. It is called with s.mu held.
func (s *Server) perform(effects []Effect) {
	if s.c.Journal == nil || s.unkept {
		s.doAll(withoutRecords(effects))
		return
	}
	s.doAll(s.backlog.push(effects))
	if s.backlog.record() != nil {
		select {
		case s.recorded <- struct{}{}:
		default:
		}
	}
}

func (s *Server) doAll(effects []Effect) {
	for _, f := range effects {
		s.do(f)
	}
}
