package records

import (
	"fmt"
	"sync"

	"ringtrain/input"
	"ringtrain/input/convert"
)

// pending is the reading of validation records that Prepare has left in their files.
// That they are there, and of the right kind and number, is known before the ranks
// meet; the rest is read after the first steps, beside training, or where an
// evaluation needs it: the first step does not wait for it. A rank that finds a
// fault then asks for an evaluation, which fails, and by which all learn of it; training
// goes on.
type Loader struct {
	Load    func() error // reads them, once; returns the fault every time
	begun   bool
	faults  chan error // what begin has found, at most one
	reading sync.WaitGroup
}

// newPending reads d, the validation records.
func NewLoader(d input.Dataset) *Loader {
	rest, ok := d.(convert.Later)
	if !ok {
		return &Loader{Load: func() error { return nil }, begun: true}
	}
	return &Loader{faults: make(chan error, 1), Load: func() error {
		if err := rest.Load(); err != nil {
			return fmt.Errorf("input.eval: %w", err)
		}
		return nil
	}}
}

// begin starts to read beside what the caller does.
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

// fault returns what begin has found.
func (p *Loader) Fault() error {
	select {
	case err := <-p.faults:
		return err
	default:
		return nil
	}
}

// wait returns when nothing is being read.
func (p *Loader) Wait() { p.reading.Wait() }
