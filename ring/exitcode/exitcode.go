// Package exitcode lists the exit codes of ringtrain and attaches them to errors.
//
// Codes below 128 are permanent: the same command fails again. A command that ends with a code
// from 128 on may be run again. Supervisors (Slurm's requeue, Kubernetes' podFailurePolicy) rely
// on these numbers. Code 2 is never used: a Go panic and the flag package exit with it.
package exitcode

import "errors"

// The exit codes. A launcher also ends with others: launch.TimedOut, and 128+n for a rank that
// signal n has killed.
const (
	OK           = 0
	Failed       = 1   // failed for a reason without a code of its own
	Usage        = 64  // wrong usage or inconsistent job
	BadData      = 65  // bad input data or checkpoint
	NoInput      = 66  // input is missing
	Internal     = 70  // a bug in ringtrain, or an exported graph that differs from its model
	CannotCreate = 73  // output cannot be created
	IO           = 74  // disk full or I/O error
	Protocol     = 76  // protocol or version mismatch, corrupt frame
	Auth         = 77  // not authenticated
	NotFinite    = 80  // loss or gradient is not finite, or a model that is not sound is not exported
	Diverged     = 81  // replicas differ
	NotRunnable  = 126 // program is not executable
	NotFound     = 127 // program is not found
	Interrupted  = 130 // Ctrl-C
	Retry        = 138 // peers missing or lost, port in use, double start: run the command again
	Terminated   = 143 // SIGTERM; the state is saved, if the job has a checkpoint.dir
)

// coded is an error with an exit code.
type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

// With returns err with an exit code. The innermost code wins, because the code nearest to the
// cause knows it best. With(code, nil) is nil.
func With(code int, err error) error {
	if err == nil {
		return nil
	}
	if c, ok := errors.AsType[coded](err); ok {
		code = c.code
	}
	return coded{err, code}
}

// Of returns the exit code of err: OK for nil, Failed for an error without one.
func Of(err error) int {
	if err == nil {
		return OK
	}
	if c, ok := errors.AsType[coded](err); ok {
		return c.code
	}
	return Failed
}
