package shmlink

import (
	"errors"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
)

// ErrUnavailable means that this host lets its workers have no memory in common;
// the text says why. All workers of the host get it, from Open or an Arena. The
// caller can go on over links; to try again is no remedy.
var ErrUnavailable = exitcode.With(exitcode.Usage, errors.New("shared memory is not available"))

// Config has the options of a memory. All workers of a host must have the same.
type Config struct {
	// Token is what all workers must have.
	Token token.Token

	// Spin is how often Sync looks at the others' counts before it gives its core
	// away. 0: 1000 times if the workers have a core each, else never. Negative:
	// never.
	Spin int

	// system is what the kernel is asked for; the zero value is the kernel.
	system system
}
