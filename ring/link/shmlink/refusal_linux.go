package shmlink

import (
	"errors"

	"ringtrain/ring/exitcode"
)

// A refusal is why a round of share failed: on all workers alike, so it travels.
type refusal struct {
	status status
	rank   int // local rank of the worker that is gone, -1: none is
	text   string
}

// What a refusal with that status is, besides ErrUnavailable.
var (
	errLost   = exitcode.With(exitcode.Retry, errors.New("a worker is gone"))
	errDiffer = exitcode.With(exitcode.Protocol, errors.New("the workers differ"))
)

func (r *refusal) Error() string { return r.Unwrap().Error() + ": " + r.text }

func (r *refusal) Unwrap() error {
	switch r.status {
	case unavailable:
		return ErrUnavailable
	case differ:
		return errDiffer
	default:
		return errLost
	}
}
