package shmlink

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// A room is memory that a worker wants to have in common with the others.
type room struct {
	count int  // of what it holds, for a person; all workers must want the same
	bytes int  // whole pages
	mine  span // what this worker touches first
}

// share maps a room on all workers of the host. All of them call it. It is a
// round of four messages, at the end of which all have the memory or none has:
// whatever makes one give up is a *refusal on the others.
func (m *memory) share(ctx context.Context, r room) ([]byte, error) {
	if m.host.me == leader {
		return m.lead(ctx, r)
	}
	return m.follow(ctx, r)
}

// follow is a member's part of share. If the leader cannot be told something then
// that is not the reason, which hear finds.
func (m *memory) follow(ctx context.Context, r room) ([]byte, error) {
	boss := m.peers[0]
	boss.conn.Write(message{kind: want, number: uint64(r.count)}.append(nil))
	granted, err := m.hear(ctx, boss, grant)
	if err != nil {
		return nil, err
	}
	view, err := m.accept(granted, r)
	answer := message{kind: mapped, rank: int32(m.host.me)}
	if err != nil {
		answer.status, answer.text = unavailable, err.Error()
	}
	boss.conn.Write(answer.append(nil))
	done, err := m.hear(ctx, boss, verdict)
	if err != nil {
		unmap(view)
		return nil, err
	}
	m.cores.Store(int64(done.number))
	return view, nil
}

// accept maps the memory that came with a grant.
func (m *memory) accept(granted parcel, r room) ([]byte, error) {
	if granted.memory == nil {
		return nil, errors.New("the descriptor of the memory did not arrive")
	}
	defer granted.memory.Close()
	return m.system.attach(granted.memory, r)
}

// lead is the leader's part of share. It hears all that is said in a round even
// if that has failed, so that nothing is left over for the next one.
func (m *memory) lead(ctx context.Context, r room) ([]byte, error) {
	if err := m.agree(ctx, r.count); err != nil {
		return nil, m.tell(m.peers, grant, err)
	}
	memory, err := m.system.create(r.bytes)
	if err != nil {
		return nil, m.tell(m.peers, grant, m.cannot(err))
	}
	defer memory.Close()
	granted, err := m.give(memory)
	var view []byte
	if err == nil {
		if view, err = m.system.attach(memory, r); err != nil {
			err = m.cannot(err)
		}
	}
	for _, p := range m.peers[:granted] {
		if _, e := m.hear(ctx, p, mapped); err == nil {
			err = e
		}
	}
	m.tell(m.peers[granted:], grant, err)
	m.tell(m.peers[:granted], verdict, err)
	if err != nil {
		unmap(view)
		return nil, err
	}
	return view, nil
}

// agree waits, as the leader, until all members want room for as much.
func (m *memory) agree(ctx context.Context, count int) error {
	var differs error
	for _, p := range m.peers {
		said, err := m.hear(ctx, p, want)
		if err != nil {
			return err
		}
		if said.number != uint64(count) && differs == nil {
			differs = &refusal{differ, -1, fmt.Sprintf("%s wants memory for %d elements, %s for %d",
				m.host.name(p.rank), said.number, m.host.name(leader), count)}
		}
	}
	return differs
}

// give hands the memory to all members, and returns how many have it.
func (m *memory) give(memory *os.File) (granted int, err error) {
	rights := m.system.rights(int(memory.Fd()))
	for i, p := range m.peers {
		_, _, err := p.conn.WriteMsgUnix(message{kind: grant}.append(nil), rights, nil)
		switch {
		case err != nil && denied(err):
			return i, m.cannot(fmt.Errorf("passing of a descriptor: %w", err))
		case err != nil:
			return i, m.gone(p.rank)
		}
	}
	return len(m.peers), nil
}

// tell ends a round for peers with a message that says what err is, and
// returns err. Who cannot be told is gone, and the next barrier shows it.
func (m *memory) tell(peers []*peer, k kind, err error) error {
	said := message{kind: k, number: uint64(m.cores.Load()), rank: -1}
	if err != nil {
		r := m.refusal(err)
		said.status, said.rank, said.text = r.status, int32(r.rank), r.text
	}
	for _, p := range peers {
		p.conn.Write(said.append(nil))
	}
	return err
}

// refusal is what err is to the others: why this worker gave up. If it waited
// for a worker in vain then that one is missing.
func (m *memory) refusal(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	rank := m.host.me
	if a, ok := errors.AsType[*absence](err); ok {
		rank = a.rank
	}
	return &refusal{lost, rank, fmt.Sprintf("%s gave up: %v", m.host.name(m.host.me), err)}
}

// cannot is what this host refuses.
func (m *memory) cannot(err error) error {
	return &refusal{unavailable, m.host.me, fmt.Sprintf("%s: %v", m.host.name(m.host.me), err)}
}

// lastWord is how long a member whose time is up still listens to its leader. That
// one's time is up at about the same moment, and it knows who is missing.
const lastWord = time.Second

// hear waits for the next message, which must be of kind k. A status that is not
// good is a *refusal.
func (m *memory) hear(ctx context.Context, p *peer, k kind) (parcel, error) {
	m.missing.Store(int32(p.rank))
	select {
	case said, ok := <-p.inbox:
		return m.understand(p, k, said, ok)
	case <-ctx.Done():
		if m.host.me != leader && ctx.Err() == context.DeadlineExceeded {
			select {
			case said, ok := <-p.inbox:
				return m.understand(p, k, said, ok)
			case <-m.quit:
			case <-time.After(lastWord):
			}
		}
		err := fmt.Errorf("waiting for %s: %w", m.host.name(p.rank), context.Cause(ctx))
		return parcel{}, &absence{p.rank, exitcode.With(exitcode.Retry, err)}
	case <-m.quit:
		return parcel{}, ring.ErrClosed
	}
}

// understand takes what p has said, which must be of kind k; nothing if its socket
// has ended.
func (m *memory) understand(p *peer, k kind, said parcel, ok bool) (parcel, error) {
	switch {
	case !ok:
		return parcel{}, m.gone(p.rank)
	case said.kind != k:
		said.drop()
		return parcel{}, &refusal{differ, -1, fmt.Sprintf("%s says %d when %d is due", m.host.name(p.rank), said.kind, k)}
	case said.status == good:
		return said, nil
	case m.host.me == leader: // what a member says it says about itself
		said.rank, said.text = int32(p.rank), m.host.name(p.rank)+": "+said.text
	}
	said.drop()
	return parcel{}, &refusal{said.status, m.host.worker(said.rank), said.text}
}
