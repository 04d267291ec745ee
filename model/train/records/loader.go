package records

import (
	"fmt"
	"sync"

	"ringtrain/input"
)

// A Loader reads the validation records that Open left in their files. Open checks that the files
// exist and have the right kind and number of records. The Loader reads the rest after the first steps,
// during training, or when an evaluation needs it. So the first step does not wait for the validation
// records. A rank that finds a fault asks for an evaluation, which fails on all ranks; training
// continues.
type Loader struct {
	Load    func() error // reads the records once; returns the same fault each time
	begun   bool
	faults  chan error // the fault that Start found, at most one
	reading sync.WaitGroup
}

// NewLoader returns a Loader of the validation records d.
func NewLoader(d input.Dataset) *Loader {
	rest := d.Facts().Load
	if rest == nil {
		return &Loader{Load: func() error { return nil }, begun: true}
	}
	return &Loader{faults: make(chan error, 1), Load: func() error {
		if err := rest(); err != nil {
			return fmt.Errorf("input.eval: %w", err)
		}
		return nil
	}}
}

// Start starts to read in the background.
func (p *Loader) Start() {
	if p.begun {
		return
	}
	p.begun = true
	p.reading.Go(func() {
		if err := p.Load(); err != nil {
			p.faults <- err
		}
	})
}

// Fault returns the fault that reading in the background found, nil for none.
func (p *Loader) Fault() error {
	select {
	case err := <-p.faults:
		return err
	default:
		return nil
	}
}

// Wait returns when no reading is in progress.
func (p *Loader) Wait() { p.reading.Wait() }
