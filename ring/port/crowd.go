package port

import (
	"net"
	"sync"
)

// crowd is the set of connections that have not shown what they are.
type crowd struct {
	mu    sync.Mutex
	limit int
	conns map[net.Conn]struct{} // nil once dispersed
}

func newCrowd(limit int) *crowd {
	return &crowd{limit: limit, conns: map[net.Conn]struct{}{}}
}

// enter adds c, unless the crowd is full or dispersed.
func (d *crowd) enter(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conns == nil || len(d.conns) >= d.limit {
		return false
	}
	d.conns[c] = struct{}{}
	return true
}

// leave takes c out; it tells whether the crowd still stood.
func (d *crowd) leave(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, c)
	return d.conns != nil
}

// disperse closes all of the crowd and lets nobody in any more.
func (d *crowd) disperse() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns {
		c.Close()
	}
	d.conns = nil
}
