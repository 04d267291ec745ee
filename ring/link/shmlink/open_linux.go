package shmlink

import (
	"context"
	"fmt"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/handshake"
)

// Open joins the workers of m on this worker's host. It returns when all of them have mapped
// the exchange buffer, or when ctx ends.
//
// If the host does not allow shared memory, the error is ErrUnavailable on all workers.
// Other errors have exitcode.Retry. Both are a *ring.PeerError with Op "memory". It names
// the worker that is refused memory, is missing, has ended or has given up. A leader with
// another token is a stranger: a member continues to wait for its own leader. If the socket
// cannot be opened, the error names no worker.
func Open(ctx context.Context, m ring.Membership, c Config) (ring.Memory, error) {
	mem := newMemory(m, c)
	err := mem.open(ctx, meeting{mem.host, handshake.Identity{Membership: m, Token: c.Token}, c.Port, &mem.syscalls}, c.Spin)
	close(mem.opened)
	if err != nil {
		mem.Close()
		return nil, mem.host.peerError(fmt.Errorf("memory of this host: %w", err))
	}
	return mem, nil
}

// open joins the other workers and maps the exchange buffer.
func (m *memory) open(ctx context.Context, others meeting, spin int) error {
	if err := m.meet(ctx, others); err != nil {
		return err
	}
	bytes := wholePages(exchangeBufferBytes(m.host.size()))
	view, err := m.share(ctx, region{m.host.size(), bytes, byteRange{0, bytes}})
	if err != nil {
		return err
	}
	m.views = append(m.views, view)
	m.exchangeBuffer = exchangeBufferOf(view, m.host.size())
	m.missing.Store(-1)
	m.spin = max(spin, 0)
	if spin == 0 && m.host.size() <= m.Cores() {
		m.spin = spinChecks
	}
	return nil
}

// meet connects a member to its leader, and the leader to all members.
func (m *memory) meet(ctx context.Context, others meeting) error {
	if m.host.me != leader {
		conn, err := others.connect(ctx)
		if err == nil {
			m.addPeer(leader, conn)
		}
		return err
	}
	conns, cores, err := others.acceptMembers(ctx)
	for rank, c := range conns {
		if c != nil {
			m.addPeer(rank, c)
		}
	}
	m.cores.Store(int64(cores))
	if err != nil {
		return m.sendAll(m.peers, grant, err)
	}
	return nil
}
