package handshake

import (
	"errors"
	"fmt"
	"net"

	"ringtrain/ring"
	"ringtrain/ring/token"
)

// Peer is the worker at the other end of a connection. Stream numbers the connections in the
// same direction between the two workers.
type Peer struct {
	Rank   int
	Stream uint8
}

// Identity is what a worker says of itself, and what it wants of others.
type Identity struct {
	Membership ring.Membership
	Token      token.Token
	Clear      bool // links between hosts are in clear after the proof
}

// Conn is a proved connection to a peer.
type Conn struct {
	*token.Conn
	Within bool // both ends are on one host
}

// CRC reports whether frames need a CRC: they travel in clear between hosts.
func (c *Conn) CRC() bool { return !c.Secure() && !c.Within }

// Request returns the request for a connection to the peer to.
func (i Identity) Request(purpose token.Purpose, to Peer) token.Request {
	return i.request(purpose, i.Membership.Rank, to.Rank, to.Stream)
}

// request returns the request of rank from to rank to.
func (i Identity) request(purpose token.Purpose, from, to int, stream uint8) token.Request {
	m := i.Membership
	end := func(rank int) token.End {
		return token.End{Rank: int32(rank), Incarnation: m.Workers[rank].Incarnation}
	}
	return token.Request{
		Purpose: purpose, JobID: m.JobID, From: end(from), To: end(to), Fence: [token.FenceBytes]byte(m.Fence().Append(nil)), Stream: stream,
	}
}

// Check compares a request with that of a peer that admit accepts, and returns the peer. admit
// returns the reason to refuse a peer. No rank outside the membership may pass it. The first difference
// is the error.
func (i Identity) Check(r *token.Request, admit func(Peer) error) (Peer, error) {
	m, from := i.Membership, Peer{int(r.From.Rank), r.Stream}
	if r.JobID != m.JobID {
		return from, fmt.Errorf("job id is %q, want %q", r.JobID, m.JobID)
	}
	if err := ring.ParseFence(r.Fence[:]).Difference(m.Fence()); err != nil {
		return from, err
	}
	if r.To.Rank != int32(m.Rank) {
		return from, fmt.Errorf("this is rank %d, not rank %d", m.Rank, r.To.Rank)
	}
	if err := admit(from); err != nil {
		return from, err
	}
	want := i.request(r.Purpose, from.Rank, m.Rank, from.Stream)
	for _, ends := range [][2]token.End{{r.To, want.To}, {r.From, want.From}} {
		if got, want := ends[0], ends[1]; got != want {
			return from, fmt.Errorf("incarnation of rank %d is %#x, want %#x", want.Rank, got.Incarnation, want.Incarnation)
		}
	}
	return from, nil
}

// checkLink is Check for the connection of a link.
func (i Identity) checkLink(c *token.Conn, admit func(Peer) error) (Peer, error) {
	from, err := i.Check(&c.Request, admit)
	if err == nil && !i.Clear && i.conn(c, from).CRC() {
		err = errors.New("the link is in clear and comes from another host, want TLS")
	}
	return from, err
}

// conn returns c as the connection to a peer.
func (i Identity) conn(c *token.Conn, peer Peer) *Conn { return &Conn{c, i.within(c.Socket(), peer)} }

// within reports whether the peer at the other end of a socket is on this host. A host id alone may be
// wrong: it may be given twice, or cloned with a machine.
func (i Identity) within(socket net.Conn, peer Peer) bool {
	return i.worker(peer).HostID == i.Membership.Self().HostID && OneAddress(socket)
}

// OneAddress reports whether c has the same address at both ends, so that they are on one machine.
func OneAddress(c net.Conn) bool {
	here, _ := c.LocalAddr().(*net.TCPAddr)
	there, _ := c.RemoteAddr().(*net.TCPAddr)
	return here != nil && there != nil && here.IP.Equal(there.IP)
}

// worker returns the worker of peer.
func (i Identity) worker(peer Peer) ring.Worker { return i.Membership.Workers[peer.Rank] }
