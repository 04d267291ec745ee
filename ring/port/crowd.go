package port

import (
	"net"
	"sync"
)

// pendingConns is the set of connections whose kind is not known yet.
type crowd struct {
	mu    sync.Mutex
	limit int
	conns map[net.Conn]struct{} // nil after disperse
}

func newCrowd(limit int) *crowd {
	return &crowd{limit: limit, conns: map[net.Conn]struct{}{}}
}

// enter adds c and reports whether it has: not if the set is full or closed.
func (d *crowd) enter(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conns == nil || len(d.conns) >= d.limit {
		return false
	}
	d.conns[c] = struct{}{}
	return true
}

// leave removes c and reports whether the set is open.
func (d *crowd) leave(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, c)
	return d.conns != nil
}

// disperse closes all connections of the set and refuses others.
func (d *crowd) disperse() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns {
		c.Close()
	}
	d.conns = nil
}
