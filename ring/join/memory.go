package join

import (
	"context"
	"errors"
	"fmt"

	"ringtrain/ring"
	"ringtrain/ring/link/shmlink"
)

// openMemory returns nil if l needs none.
func openMemory(ctx context.Context, m ring.Membership, c Config, l layout) (ring.Memory, error) {
	if !l.memory {
		return nil, nil
	}
	opened, err := shmlink.Open(ctx, m, shmlink.Config{Token: c.Token})
	if err != nil {
		return nil, c.withRemedy(err)
	}
	return memoryWithRemedy{opened.(hostMemory), c}, nil
}

// fallsBack tells whether the ranks go on over links after err, which all of them
// have, and says so. On several hosts the workers of the others know nothing of it
// and would go on in two levels, so there it is for the user to say.
func (c Config) fallsBackToLinks(m ring.Membership, err error) bool {
	r, ok := errors.AsType[*memoryRefusal](err)
	if !ok || m.Hosts() > 1 || c.Link == "shm" {
		return false
	}
	c.noticeRank0(m, fmt.Sprintf("%v: the ranks exchange gradients over links instead", r.cause()))
	return true
}

// A refusedMemory is what a host refuses its workers, with what the user can do.
type memoryRefusal struct {
	error
	remedy string
}

// refused adds to err what to do, if it is about memory that the host refuses. An
// arena may be, at any time, after smaller ones were not.
func (c Config) withRemedy(err error) error {
	if !errors.Is(err, shmlink.ErrUnavailable) {
		return err
	}
	remedy := "add --set allreduce.levels=flat"
	if c.Link == "shm" {
		remedy = "link is shm, want auto, tcp or grpc here, with --set allreduce.levels=flat"
	}
	if pe, ok := errors.AsType[*ring.PeerError](err); ok {
		named := *pe
		named.Err = &memoryRefusal{pe.Err, remedy}
		return &named
	}
	return &memoryRefusal{err, remedy}
}

func (r *memoryRefusal) Error() string { return r.error.Error() + "; " + r.remedy }

func (r *memoryRefusal) Unwrap() error { return r.error }

// reason is r without the remedy.
func (r *memoryRefusal) cause() error { return r.error }

// hostMemory is all that a group uses of shared memory.
type hostMemory interface {
	ring.Memory
	ring.Exchanger
	Cores() int
}

// advisingMemory is a memory whose refusals say what to do.
type memoryWithRemedy struct {
	hostMemory
	config Config
}

func (a memoryWithRemedy) Arena(ctx context.Context, n int) ([][]float32, error) {
	parts, err := a.hostMemory.Arena(ctx, n)
	return parts, a.config.withRemedy(err)
}
