package serving

import (
	"sync/atomic"

	"ringtrain/export/interpreter"
)

// Version is a loaded version of a model. It is valid from Acquire to Release.
type Version struct {
	Model  *interpreter.Model
	Name   string // of the model
	Number int64
	Path   string // its folder

	users atomic.Int64 // requests that hold the version, and 1 while Models has it
}

// Release ends the use of a version that Acquire returned. The last user of a version that was
// dropped unloads it.
func (v *Version) Release() {
	v.users.Add(-1)
}
