package join

import (
	"context"
	"errors"
	"fmt"

	"ringtrain/ring"
	"ringtrain/ring/link/shmlink"
)

// openMemory opens the memory that l needs, nil if it needs none.
func (t *Team) openMemory(ctx context.Context, m ring.Membership, c Config, l layout) (ring.Memory, error) {
	if !l.memory {
		return nil, nil
	}
	opened, err := shmlink.Open(ctx, m, shmlink.Config{Token: c.Token, Port: t.port})
	if err != nil {
		return nil, c.withRemedy(err)
	}
	return memoryWithRemedy{opened, c}, nil
}

// fallsBackToLinks reports whether the ranks go on over links after err, which all of them
// have, and tells people. On several hosts the workers of the other hosts do not know of
// err and would go on in two levels, so there the user must decide.
func (c Config) fallsBackToLinks(m ring.Membership, err error) bool {
	r, ok := errors.AsType[*memoryRefusal](err)
	if !ok || m.Hosts() > 1 || c.Link == "shm" {
		return false
	}
	c.noticeRank0(m, fmt.Sprintf("%v: the ranks exchange gradients over links instead", r.cause()))
	return true
}

// A memoryRefusal is the refusal of shared memory by a host, with a remedy for the user.
type memoryRefusal struct {
	error
	remedy string
}

// withRemedy adds a remedy to err if a host has refused memory. A host may refuse an arena
// at any time, after it has granted smaller ones.
func (c Config) withRemedy(err error) error {
	if !errors.Is(err, shmlink.ErrUnavailable) {
		return err
	}
	remedy := "add --set allreduce.levels=flat"
	if c.Link == "shm" {
		remedy = "link is shm, want auto or tcp here, with --set allreduce.levels=flat"
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

// cause returns r without the remedy.
func (r *memoryRefusal) cause() error { return r.error }

// memoryWithRemedy is a memory whose refusals contain a remedy.
type memoryWithRemedy struct {
	ring.Memory
	config Config
}

func (m memoryWithRemedy) Arena(ctx context.Context, n int) ([][]float32, error) {
	parts, err := m.Memory.Arena(ctx, n)
	return parts, m.config.withRemedy(err)
}
