package port

import (
	"net"
	"sync"
)

// pendingConns is the set of connections whose kind is not known yet.
type pendingConns struct {
	mu    sync.Mutex
	limit int
	conns map[net.Conn]struct{} // nil after disperse
}

func newPendingConns(limit int) *pendingConns {
	return &pendingConns{limit: limit, conns: map[net.Conn]struct{}{}}
}

// add adds c and reports whether it has: not if the set is full or closed.
func (p *pendingConns) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil || len(p.conns) >= p.limit {
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

// remove removes c and reports whether the set is open.
func (p *pendingConns) remove(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
	return p.conns != nil
}

// closeAll closes all connections of the set and refuses others.
func (p *pendingConns) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
	p.conns = nil
}
