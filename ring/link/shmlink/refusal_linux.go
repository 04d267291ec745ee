package shmlink

import (
	"errors"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// A refusal is why a round of share failed: on all workers alike, so it travels.
type refusal struct {
	status status
	rank   int // local rank of the worker that is gone, or is refused memory; -1: none is
	text   string
}

// What a refusal with that status is, besides ErrUnavailable.
var (
	errLost   = exitcode.With(exitcode.Retry, errors.New("a worker is gone"))
	errDiffer = exitcode.With(exitcode.Protocol, errors.New("the workers differ"))
)

// An absence is why this worker waits no longer for one of its host.
type absence struct {
	rank int // local
	error
}

func (a *absence) Unwrap() error { return a.error }

// peerError names the worker of this host that err is about, if it is about one.
// That the host refuses one memory all workers say alike, that one too.
func (h host) peerError(err error) error {
	rank := -1
	r, refused := errors.AsType[*refusal](err)
	if a, ok := errors.AsType[*absence](err); ok {
		rank = a.rank
	} else if refused {
		rank = r.rank
	}
	if rank < 0 || rank == h.me && !(refused && r.status == unavailable) {
		return err
	}
	w := h.workers[rank]
	return &ring.PeerError{Op: "memory", Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: err}
}

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
