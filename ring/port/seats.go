package port

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// The bounds of all that is not proved.
const (
	maxSeats     = 256
	maxSeatBytes = 16 << 10 // that one connection may send
)

// seats is the set of connections that have not proved the token.
type seats struct {
	mu     sync.Mutex
	taken  []*seat // the oldest first
	closed bool
}

// seat is a connection that has not proved the token.
type seat struct {
	net.Conn
	from netip.Prefix
	left int // bytes that it may still send
}

var errTooMuch = errors.New("sent more than 16 KiB without a proof")

func (s *seat) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, errTooMuch
	}
	n, err := s.Conn.Read(p[:min(len(p), s.left)])
	s.left -= n
	return n, err
}

// silent reports whether no byte has arrived.
func (s *seat) silent() bool { return s.left == maxSeatBytes }

// take gives c a seat. If all are taken, it closes another one. It returns nil after closeAll.
func (s *seats) take(c net.Conn) *seat {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if len(s.taken) == maxSeats {
		i := s.victim()
		s.taken[i].Close()
		s.taken = slices.Delete(s.taken, i, i+1)
	}
	t := &seat{Conn: c, from: network(addressOf(c)), left: maxSeatBytes}
	s.taken = append(s.taken, t)
	return t
}

// victim returns the index of the oldest seat of the network with the most seats; of equals, the
// oldest.
func (s *seats) victim() int {
	count := map[netip.Prefix]int{}
	most := 0
	for _, t := range s.taken {
		count[t.from]++
		most = max(most, count[t.from])
	}
	return slices.IndexFunc(s.taken, func(t *seat) bool { return count[t.from] == most })
}

// leave frees the seat of t, and reports whether t still had it.
func (s *seats) leave(t *seat) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.taken, t)
	if i >= 0 {
		s.taken = slices.Delete(s.taken, i, i+1)
	}
	return i >= 0
}

// closeAll closes all seats and gives out no other.
func (s *seats) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.taken {
		t.Close()
	}
	s.taken, s.closed = nil, true
}

// addressOf returns the address that c comes from. IPv4 in IPv6 form counts as IPv4.
func addressOf(c net.Conn) netip.Addr {
	a, _ := netip.ParseAddrPort(c.RemoteAddr().String())
	return a.Addr().Unmap().WithZone("")
}

// network returns whose seats are counted together: an IPv4 address, or the /64 of an IPv6 address,
// of which a host has as many as it likes.
func network(a netip.Addr) netip.Prefix {
	bits := 64
	if a.Is4() {
		bits = 32
	}
	p, _ := a.Prefix(bits)
	return p
}
