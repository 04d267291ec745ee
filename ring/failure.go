package ring

import (
	"errors"
	"fmt"
	"sync"
)

// A failure is why no operation of a group can follow. It may be used at any time.
type failure struct {
	mu    sync.Mutex
	why   error // the first reason; nil: the group is well
	after error // the error of later operations
}

// keep keeps why as the reason unless there is one already. It returns the first reason.
func (f *failure) keep(why error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.why == nil {
		f.why = why
	}
	return f.why
}

// first returns the first reason, or nil.
func (f *failure) first() error { return f.keep(nil) }

// later returns the error of operations after the end of the group, or nil.
func (f *failure) later() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.why == nil || errors.Is(f.why, ErrGenerationEnded) {
		return f.why
	}
	if f.after == nil {
		f.after = fmt.Errorf("%w: %w", ErrGenerationEnded, f.why)
	}
	return f.after
}
