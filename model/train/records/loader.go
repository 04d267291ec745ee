package records

import (
	"context"
	"fmt"
	"sync"

	"ringtrain/input"
)

// A Loader reads the validation records that Open left in their files. Open checks that the files
// exist and have the right kind and number of records. The Loader reads the rest after the first steps,
// during training, or when an evaluation needs it. So the first step does not wait for the validation
// records. A rank that finds a fault asks for an evaluation, which fails on all ranks; training
// continues. One goroutine calls its methods.
type Loader struct {
	load    func() error  // reads the records; nil: all is read
	over    chan struct{} // closed when they are read; nil before
	fault   error         // of reading, once it is over
	told    bool          // the fault has been returned
	reading sync.WaitGroup
}

// NewLoader returns a Loader of the validation records d, nil for none.
func NewLoader(d input.Dataset) *Loader {
	if d == nil {
		return new(Loader)
	}
	return &Loader{load: d.Facts().Load}
}

// Start starts to read in the background, once.
func (l *Loader) Start() {
	if l.load == nil || l.over != nil {
		return
	}
	l.over = make(chan struct{})
	l.reading.Go(func() {
		if err := l.load(); err != nil {
			l.fault = fmt.Errorf("input.eval: %w", err)
		}
		close(l.over)
	})
}

// Load returns when the records are read, with their fault if there is one; or with the cause of ctx
// when that ends.
func (l *Loader) Load(ctx context.Context) error {
	l.Start()
	if l.load == nil {
		return nil
	}
	select {
	case <-l.over:
		l.told = true
		return l.fault
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Fault returns the fault that reading in the background found, nil if there is none or it is known.
func (l *Loader) Fault() error {
	select {
	case <-l.over:
	default:
		return nil
	}
	if l.told {
		return nil
	}
	l.told = true
	return l.fault
}

// Wait returns when no reading is in progress.
func (l *Loader) Wait() { l.reading.Wait() }
