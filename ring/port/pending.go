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
func (d *pendingConns) add(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conns == nil || len(d.conns) >= d.limit {
		return false
	}
	d.conns[c] = struct{}{}
	return true
}

// remove removes c and reports whether the set is open.
func (d *pendingConns) remove(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, c)
	return d.conns != nil
}

// closeAll closes all connections of the set and refuses others.
func (d *pendingConns) closeAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns {
		c.Close()
	}
	d.conns = nil
}
