package shmlink

import (
	"errors"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// shareError is why a round of share failed. It is the same on all workers, so it travels in
// messages.
type shareError struct {
	status status
	rank   int // local rank of the worker that has ended or is refused memory; -1: none
	text   string
}

// The errors of a shareError's status, besides ErrUnavailable.
var (
	errLost   = exitcode.With(exitcode.Retry, errors.New("a worker is gone"))
	errDiffer = exitcode.With(exitcode.Protocol, errors.New("the workers differ"))
)

// absenceError is why this worker no longer waits for another one of its host.
type absenceError struct {
	rank int // local
	error
}

func (a *absenceError) Unwrap() error { return a.error }

// peerError returns err as a *ring.PeerError of the worker that err is about, if any. If err
// is about this worker, only a refusal of memory becomes a PeerError: all workers then return
// the same error.
func (h host) peerError(err error) error {
	rank := -1
	r, lastRefusal := errors.AsType[*shareError](err)
	if a, ok := errors.AsType[*absenceError](err); ok {
		rank = a.rank
	} else if lastRefusal {
		rank = r.rank
	}
	if rank < 0 || rank == h.me && !(lastRefusal && r.status == unavailable) {
		return err
	}
	w := h.workers[rank]
	return &ring.PeerError{Op: "memory", Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: err}
}

func (s *shareError) Error() string { return s.Unwrap().Error() + ": " + s.text }

func (s *shareError) Unwrap() error {
	switch s.status {
	case unavailable:
		return ErrUnavailable
	case differ:
		return errDiffer
	default:
		return errLost
	}
}
