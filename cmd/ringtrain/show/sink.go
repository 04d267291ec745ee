package show

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// A Sink is standard output. It keeps the first write error, so that a command that could
// not write its output to a full disk ends with an error. A closed pipe is no error: its
// reader did not want the rest.
type Sink struct {
	mu sync.Mutex // locked during a write, which may block
	w  io.Writer

	faultMu sync.Mutex
	err     error // the first error
}

// NewSink returns standard output that writes to w.
func NewSink(w io.Writer) *Sink { return &Sink{w: w} }

func (s *Sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.w.Write(p)
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		s.faultMu.Lock()
		defer s.faultMu.Unlock()
		s.err = cmp.Or(s.err, err)
	}
	return n, err
}

// Fault returns the first write error, or nil.
func (s *Sink) Fault() error {
	s.faultMu.Lock()
	defer s.faultMu.Unlock()
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("standard output: %w", s.err)
}
