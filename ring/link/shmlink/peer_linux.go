package shmlink

import (
	"net"
	"sync"
)

// peer is the other end of a socket: on the leader a member, on a member the leader.
type peer struct {
	rank  int // local
	conn  *net.UnixConn
	inbox chan receivedMessage // its messages; closed when the socket ends
}

// maxUnread is the capacity of an inbox. In a round each side sends two messages, and waits
// for the other side's message between them.
const maxUnread = 2

// addPeer adds the worker at the other end of a connection to the peers.
func (m *memory) addPeer(rank int, c *net.UnixConn) {
	p := &peer{rank, c, make(chan receivedMessage, maxUnread)}
	m.peers = append(m.peers, p)
	m.readers.Go(func() {
		p.read(&m.syscalls)
		<-m.opened
		m.peerEnded(p.rank)
	})
}

// read puts messages into the inbox until the socket ends or the other side sends more
// messages than a round has.
func (p *peer) read(turn *sync.Mutex) {
	conn := serialConn{p.conn, turn}
	defer close(p.inbox)
	defer conn.Close()
	for {
		msg, err := receive(conn)
		if err != nil {
			return
		}
		select {
		case p.inbox <- msg:
		default:
			msg.drop()
			return
		}
	}
}

// close closes the socket. The inbox must not be read any more.
func (p *peer) close() {
	p.conn.Close()
	for msg := range p.inbox { // ends when read returns
		msg.drop()
	}
}
