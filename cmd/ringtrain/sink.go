package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// sink is standard output. It remembers that something was lost, so that a
// command whose output did not reach a full disk does not end as if it had. A
// reader that has closed the pipe has lost nothing that it wanted.
type sink struct {
	mu sync.Mutex // held while w writes, for as long as it likes
	w  io.Writer

	faultMu sync.Mutex
	err     error // the first
}

func (s *sink) Write(p []byte) (int, error) {
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

// fault returns why output was lost, or nil.
func (s *sink) fault() error {
	s.faultMu.Lock()
	defer s.faultMu.Unlock()
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("standard output: %w", s.err)
}
