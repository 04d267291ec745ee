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

// region is memory that a worker wants to share with the others.
type region struct {
	count int       // elements, for messages; all workers must want the same
	bytes int       // whole pages
	mine  byteRange // the part that this worker touches first
}

// share maps a region on all workers of the host; all of them call it. A round has four
// messages. At its end all workers have the memory, or none has and each has the same
// shareError.
func (m *memory) share(ctx context.Context, r region) ([]byte, error) {
	if m.host.me == leader {
		return m.shareAsLeader(ctx, r)
	}
	return m.shareAsMember(ctx, r)
}

// shareAsMember is a member's part of share. It ignores write errors: receiveKind finds the
// reason.
func (m *memory) shareAsMember(ctx context.Context, r region) ([]byte, error) {
	lead := m.peers[0]
	lead.conn.Write(message{kind: request, number: uint64(r.count)}.append(nil))
	granted, err := m.receiveKind(ctx, lead, grant)
	if err != nil {
		return nil, err
	}
	view, err := m.mapGranted(granted, r)
	answer := message{kind: mapped, rank: int32(m.host.me)}
	if err != nil {
		answer.status, answer.text = unavailable, err.Error()
	}
	lead.conn.Write(answer.append(nil))
	done, err := m.receiveKind(ctx, lead, result)
	if err != nil {
		unmap(view)
		return nil, err
	}
	m.cores.Store(int64(done.number))
	return view, nil
}

// mapGranted maps the memory that came with a grant.
func (m *memory) mapGranted(granted receivedMessage, r region) ([]byte, error) {
	if granted.memory == nil {
		return nil, errors.New("the descriptor of the memory did not arrive")
	}
	defer granted.memory.Close()
	return m.system.attach(granted.memory, r)
}

// shareAsLeader is the leader's part of share. It receives all messages of a round even after
// a failure, so that none is left over for the next round.
func (m *memory) shareAsLeader(ctx context.Context, r region) ([]byte, error) {
	if err := m.awaitRequests(ctx, r.count); err != nil {
		return nil, m.sendAll(m.peers, grant, err)
	}
	memory, err := m.system.create(r.bytes)
	if err != nil {
		return nil, m.sendAll(m.peers, grant, m.unavailableError(err))
	}
	defer memory.Close()
	granted, err := m.grantAll(memory)
	var view []byte
	if err == nil {
		if view, err = m.system.attach(memory, r); err != nil {
			err = m.unavailableError(err)
		}
	}
	for _, p := range m.peers[:granted] {
		if _, e := m.receiveKind(ctx, p, mapped); err == nil {
			err = e
		}
	}
	m.sendAll(m.peers[granted:], grant, err)
	m.sendAll(m.peers[:granted], result, err)
	if err != nil {
		unmap(view)
		return nil, err
	}
	return view, nil
}

// awaitRequests waits, on the leader, until all members have requested the same size.
func (m *memory) awaitRequests(ctx context.Context, count int) error {
	var differs error
	for _, p := range m.peers {
		msg, err := m.receiveKind(ctx, p, request)
		if err != nil {
			return err
		}
		if msg.number != uint64(count) && differs == nil {
			differs = &shareError{differ, -1, fmt.Sprintf("%s wants memory for %d elements, %s for %d",
				m.host.name(p.rank), msg.number, m.host.name(leader), count)}
		}
	}
	return differs
}

// grantAll passes the memory to all members and returns how many have it.
func (m *memory) grantAll(memory *os.File) (granted int, err error) {
	rights := m.system.rights(int(memory.Fd()))
	for i, p := range m.peers {
		_, _, err := p.conn.WriteMsgUnix(message{kind: grant}.append(nil), rights, nil)
		switch {
		case err != nil && isDenied(err):
			return i, m.unavailableError(fmt.Errorf("passing of a descriptor: %w", err))
		case err != nil:
			return i, m.goneError(p.rank)
		}
	}
	return len(m.peers), nil
}

// sendAll ends a round for peers with a message about err, and returns err. It ignores write
// errors: the next barrier shows that the peer has ended.
func (m *memory) sendAll(peers []*peer, k kind, err error) error {
	msg := message{kind: k, number: uint64(m.cores.Load()), rank: -1}
	if err != nil {
		r := m.toShareError(err)
		msg.status, msg.rank, msg.text = r.status, int32(r.rank), r.text
	}
	for _, p := range peers {
		p.conn.Write(msg.append(nil))
	}
	return err
}

// toShareError returns err as the others report it: why this worker gave up. If this worker
// waited in vain for another one, the error is about that one.
func (m *memory) toShareError(err error) *shareError {
	if r, ok := errors.AsType[*shareError](err); ok {
		return r
	}
	rank := m.host.me
	if a, ok := errors.AsType[*absenceError](err); ok {
		rank = a.rank
	}
	return &shareError{lost, rank, fmt.Sprintf("%s gave up: %v", m.host.name(m.host.me), err)}
}

// unavailableError reports what this host refuses.
func (m *memory) unavailableError(err error) error {
	return &shareError{unavailable, m.host.me, fmt.Sprintf("%s: %v", m.host.name(m.host.me), err)}
}

// leaderGrace is the time for which a member waits for its leader's message after its own
// context has ended. The leader's context ends at about the same moment, and the leader
// knows who is missing.
const leaderGrace = time.Second

// receiveKind waits for the next message, which must be of kind k. A status other than good
// is a *shareError.
func (m *memory) receiveKind(ctx context.Context, p *peer, k kind) (receivedMessage, error) {
	m.missing.Store(int32(p.rank))
	select {
	case msg, ok := <-p.inbox:
		return m.checkMessage(p, k, msg, ok)
	case <-ctx.Done():
		if m.host.me != leader && ctx.Err() == context.DeadlineExceeded {
			select {
			case msg, ok := <-p.inbox:
				return m.checkMessage(p, k, msg, ok)
			case <-m.quit:
			case <-time.After(leaderGrace):
			}
		}
		err := fmt.Errorf("waiting for %s: %w", m.host.name(p.rank), context.Cause(ctx))
		return receivedMessage{}, &absenceError{p.rank, exitcode.With(exitcode.Retry, err)}
	case <-m.quit:
		return receivedMessage{}, ring.ErrClosed
	}
}

// checkMessage checks a message of p, which must be of kind k. ok is false if the socket has
// ended.
func (m *memory) checkMessage(p *peer, k kind, msg receivedMessage, ok bool) (receivedMessage, error) {
	switch {
	case !ok:
		return receivedMessage{}, m.goneError(p.rank)
	case msg.kind != k:
		msg.drop()
		return receivedMessage{}, &shareError{differ, -1, fmt.Sprintf("%s says %d when %d is due", m.host.name(p.rank), msg.kind, k)}
	case msg.status == good:
		return msg, nil
	case m.host.me == leader: // a member reports only its own failures
		msg.rank, msg.text = int32(p.rank), m.host.name(p.rank)+": "+msg.text
	}
	msg.drop()
	return receivedMessage{}, &shareError{msg.status, m.host.worker(msg.rank), msg.text}
}
