package main

import (
	"fmt"
	"io"
	"sync"
)

// sink is standard output. It remembers that something was lost, so that a
// command whose output did not reach a full disk does not end as if it had.
type sink struct {
	mu  sync.Mutex
	w   io.Writer
	err error // the first
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.w.Write(p)
	if err != nil && s.err == nil {
		s.err = err
	}
	return n, err
}

// fault returns why output was lost, or nil.
func (s *sink) fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("standard output: %w", s.err)
}
