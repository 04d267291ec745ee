package shmlink

import (
	"net"
	"sync"
)

// A peer is the other end of a socket: of the leader each member, of a member
// the leader.
type peer struct {
	rank  int // local
	conn  *net.UnixConn
	inbox chan parcel // what it says; closed at its end
}

// maxUnread is how many messages may lie in an inbox: in a round each side says
// two things, and waits for the other's in between.
const maxUnread = 2

// attend makes a connection a peer.
func (m *memory) attend(rank int, c *net.UnixConn) {
	p := &peer{rank, c, make(chan parcel, maxUnread)}
	m.peers = append(m.peers, p)
	m.readers.Go(func() {
		p.read(&m.turn)
		<-m.opened
		m.ended(p.rank)
	})
}

// read fills the inbox until the socket ends, or its other side talks out of
// turn.
func (p *peer) read(turn *sync.Mutex) {
	conn := inTurn{p.conn, turn}
	defer close(p.inbox)
	defer conn.Close()
	for {
		said, err := receive(conn)
		if err != nil {
			return
		}
		select {
		case p.inbox <- said:
		default:
			said.drop()
			return
		}
	}
}

// close ends the socket. Nobody may read the inbox any more.
func (p *peer) close() {
	p.conn.Close()
	for said := range p.inbox { // until read has returned
		said.drop()
	}
}
