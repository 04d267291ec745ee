package shmlink

import (
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"ringtrain/ring/exitcode"
)

// packets is a socket of packets for the exchange of ring/token, which reads a packet in parts.
type packets struct {
	serialConn
	rest []byte // of a packet
}

// packetBytes is more than the longest packet of an exchange.
const packetBytes = 2 << 10

// Read implements net.Conn.
func (p *packets) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		packet := make([]byte, packetBytes)
		n, err := p.serialConn.Read(packet)
		if err != nil {
			return 0, err
		}
		p.rest = packet[:n]
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// packetListener listens for sockets of packets.
type packetListener struct {
	*net.UnixListener
	turn *sync.Mutex
}

// Accept returns a *packets.
func (l packetListener) Accept() (net.Conn, error) {
	c, err := l.AcceptUnix()
	if err != nil {
		return nil, err
	}
	return &packets{serialConn: serialConn{c, l.turn}}, nil
}

// checkUser returns an error unless the process at the other end of c has this process's effective
// user id. Two users may have one token, but who maps the memory of another can change it at any time.
func checkUser(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) { peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return err
	}
	if failed != nil {
		return os.NewSyscallError("getsockopt", failed)
	}
	if own := os.Geteuid(); int(peer.Uid) != own {
		return exitcode.With(exitcode.Usage, fmt.Errorf("its uid is %d, want %d: give one uid, or --host-id", peer.Uid, own))
	}
	return nil
}
