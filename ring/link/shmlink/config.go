package shmlink

import (
	"errors"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

// ErrUnavailable means that this host does not let its workers share memory; the text gives
// the reason. All workers of the host get it, from Open or from Arena. The caller can use
// links instead. Another attempt is useless.
var ErrUnavailable = exitcode.With(exitcode.Usage, errors.New("shared memory is not available"))

// Config has the options of a memory. All workers of a host must have the same options.
type Config struct {
	// Token is the job's token. All workers have the same.
	Token token.Token

	// Port is this worker's. It serves the socket over which the workers meet, too: what does not prove
	// the token takes its seats.
	Port *port.Port

	// Spin is the number of times that Sync checks the others' counts before it
	// yields its core. 0 means 1000 if each worker has a core, else none. A negative
	// value means none.
	Spin int

	// system has the kernel's calls; the zero value stands for the kernel's own.
	system system
}
