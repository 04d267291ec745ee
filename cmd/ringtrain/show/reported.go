package show

import (
	"errors"

	"ringtrain/ring/exitcode"
)

// If standard output has events, each end with an exit code other than 0 has exactly one
// error event: of the failed rank or rank 0; of the launcher, if rank 0 wrote none; or
// of the command, if it failed before both.

// reported is an error that needs no error event: standard output has the event
// already, does not accept it, or another rank reports it.
type reported struct{ error }

func (r reported) Unwrap() error { return r.error }

// Reported returns err as an error that needs no further error event.
func Reported(err error) error { return reported{err} }

// Silent returns an error with a code and no text, because everything was reported; nil
// for code 0.
func Silent(code int) error {
	if code == exitcode.OK {
		return nil
	}
	return reported{exitcode.With(code, errors.New(""))}
}

// IsReported reports whether err needs no further error event.
func IsReported(err error) bool {
	_, told := errors.AsType[reported](err)
	return told
}
