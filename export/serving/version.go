package serving

import (
	"ringtrain/export/interpreter"
)

// Version is a loaded version of a model. It is valid from Acquire to Release.
type Version struct {
	Model  *interpreter.Model
	Name   string // of the model
	Number int64
	Path   string // its folder

	models  *Models
	users   int  // requests that hold the version; guarded by Models.mu, as is dropped
	dropped bool // no further request gets the version
}

// Release ends the use of a version that Acquire returned. The last user of a version that was
// dropped unloads it.
func (v *Version) Release() {
	v.models.mu.Lock()
	defer v.models.mu.Unlock()
	v.users--
}
