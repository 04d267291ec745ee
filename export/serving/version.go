package serving

import (
	"sync/atomic"
	"time"

	"ringtrain/export/interpreter"
)

// Version is a loaded version of a model. It is valid from Acquire to Release.
type Version struct {
	Model  *interpreter.Model
	Name   string // of the model
	Number int64
	Path   string        // its folder
	Took   time.Duration // to load and warm it

	runs   runs
	users  atomic.Int64 // requests that hold the version, and 1 while Models has it
	unload func() error // ends what the version holds
	gone   chan error   // receives what unload returned
}

// newVersion returns a version that one user holds, the caller. The caller sets unload.
func newVersion(m *interpreter.Model, name string, f folder) *Version {
	v := &Version{Model: m, Name: name, Number: f.number, Path: f.path, gone: make(chan error, 1)}
	v.users.Store(1)
	return v
}

// Release ends the use of a version that Acquire returned. The last user of a version that was
// dropped unloads it.
func (v *Version) Release() {
	if v.users.Add(-1) == 0 {
		v.gone <- v.unload()
	}
}
