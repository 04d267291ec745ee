package shmlink

import (
	"context"
	"fmt"

	"ringtrain/ring"
)

// Open joins the workers of m that are on this worker's host. It returns when
// all of them have the control page, or ctx ends.
//
// If the host refuses them memory in common the error is ErrUnavailable, on all
// of them. Else it has exitcode.Retry. Both are a *ring.PeerError with Op "memory"
// that names the worker which is refused memory, is missing, has gone or has given
// up. A leader with another token is none: a member goes on waiting for its own.
// Where nobody is missing, since the socket cannot be opened, the error names nobody.
func Open(ctx context.Context, m ring.Membership, c Config) (ring.Memory, error) {
	mem := newMemory(m, c)
	err := mem.open(ctx, c)
	close(mem.opened)
	if err != nil {
		mem.Close()
		return nil, mem.host.peerError(fmt.Errorf("memory of this host: %w", err))
	}
	return mem, nil
}

// open meets the others and maps the control page.
func (m *memory) open(ctx context.Context, c Config) error {
	if err := m.meet(ctx, greeter{m.host, c.Token}); err != nil {
		return err
	}
	bytes := wholePages(pageBytes(m.host.size()))
	view, err := m.share(ctx, room{m.host.size(), bytes, span{0, bytes}})
	if err != nil {
		return err
	}
	m.views = append(m.views, view)
	m.page = pageOf(view, m.host.size())
	m.missing.Store(-1)
	m.spin = max(c.Spin, 0)
	if c.Spin == 0 && m.host.size() <= m.Cores() {
		m.spin = spinLooks
	}
	return nil
}

// meet joins a member to its leader, and the leader to all members.
func (m *memory) meet(ctx context.Context, g greeter) error {
	if m.host.me != leader {
		conn, err := g.connect(ctx)
		if err == nil {
			m.attend(leader, conn)
		}
		return err
	}
	conns, cores, err := g.gather(ctx)
	for rank, c := range conns {
		if c != nil {
			m.attend(rank, c)
		}
	}
	m.cores.Store(int64(cores))
	if err != nil {
		return m.tell(m.peers, grant, err)
	}
	return nil
}
