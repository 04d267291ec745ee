package shmlink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	machine "ringtrain/ring/cores"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/handshake"
	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

// pauses are those between two attempts to connect.
var pauses = handshake.Pauses{First: time.Millisecond, Last: 50 * time.Millisecond}

// deniedErrnos are the errors of a system that does not allow unix sockets or the passing
// of descriptors over them.
var deniedErrnos = []error{
	unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EINVAL, unix.ETOOMANYREFS,
	unix.EAFNOSUPPORT, unix.EPROTONOSUPPORT, unix.ESOCKTNOSUPPORT, unix.EOPNOTSUPP,
}

func isDenied(err error) bool {
	return slices.ContainsFunc(deniedErrnos, func(e error) bool { return errors.Is(err, e) })
}

// socketError returns err of a socket call as ErrUnavailable, or with exitcode.Retry.
func socketError(err error) error {
	if isDenied(err) {
		return fmt.Errorf("%w: unix socket: %w", ErrUnavailable, err)
	}
	return exitcode.With(exitcode.Retry, fmt.Errorf("unix socket: %w", err))
}

// meeting is what a worker needs to meet the others of its host.
type meeting struct {
	host     host
	identity handshake.Identity
	port     *port.Port  // of this worker
	turn     *sync.Mutex // held by one system call of the sockets at a time
}

// connect connects a member to its leader, which may start later.
func (m meeting) connect(ctx context.Context) (*net.UnixConn, error) {
	c, _, err := handshake.Retry(ctx, pauses, m.dial)
	switch {
	case err == nil, errors.Is(err, ErrUnavailable):
		return c, err
	case handshake.IsFinal(err):
		err = fmt.Errorf("%s: %w", m.host.name(leader), err)
	default:
		err = exitcode.With(exitcode.Retry, fmt.Errorf("%s does not take this worker in: %v (%w)", m.host.name(leader), err, context.Cause(ctx)))
	}
	return nil, &absenceError{leader, err}
}

// dial makes one attempt of connect. An answer without a right proof does not come from the leader:
// any process of the host may have taken the name of the socket.
func (m meeting) dial(ctx context.Context) (*net.UnixConn, error) {
	socket, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: m.host.address(), Net: "unixpacket"})
	if err != nil {
		return nil, socketError(err)
	}
	r := m.identity.Request(token.Memory, m.host.peer(leader))
	own := ownCores()
	r.Data = own[:]
	c, _, err := m.identity.Token.DialClear(ctx, &packets{serialConn: serialConn{socket, m.turn}}, r)
	if err != nil {
		return nil, err
	}
	if err := checkUser(socket); err != nil {
		c.Close()
		return nil, err
	}
	return socket, nil
}

// acceptMembers waits, on the leader, until all members have connected. It returns their
// connections by local rank, and the number of cores that all workers may use together.
//
// If ctx ends first, it returns the connections that exist, with the error.
func (m meeting) acceptMembers(ctx context.Context) (conns []*net.UnixConn, cpus int, err error) {
	conns = make([]*net.UnixConn, m.host.size())
	lis, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: m.host.address(), Net: "unixpacket"})
	if err != nil {
		return conns, 0, socketError(err)
	}
	queue := m.port.Memory(packetListener{lis, m.turn})
	defer queue.Close()
	members := make([]handshake.Peer, m.host.size()-1)
	for i := range members {
		members[i] = m.host.peer(i + 1)
	}
	accepted, refused, err := handshake.Accept(ctx, queue, members, m.check)
	all := ownCores()
	for i, c := range accepted {
		if c != nil {
			conns[i+1] = c.Socket().(*packets).UnixConn
			all.add(cores(c.Request.Data))
		}
	}
	if absent := slices.Index(conns[1:], nil); err == nil && absent >= 0 {
		err = m.absentError(ctx, absent+1, refused.Why)
	}
	return conns, machine.WithinQuota(all.count()), err
}

// check returns the member that has sent a request.
func (m meeting) check(c *token.Conn, admit func(handshake.Peer) error) (handshake.Peer, error) {
	from, err := m.identity.Check(&c.Request, admit)
	if err == nil && len(c.Request.Data) != coresBytes {
		err = fmt.Errorf("set of cores has %d bytes, want %d", len(c.Request.Data), coresBytes)
	}
	if err == nil {
		err = checkUser(c.Socket().(*packets).UnixConn)
	}
	return from, err
}

// absentError says that a member has not connected, with the last refusal, if there is one.
func (m meeting) absentError(ctx context.Context, local int, lastRefusal error) error {
	err := fmt.Errorf("%s has not come for the memory that this host shares (%w)", m.host.name(local), context.Cause(ctx))
	if lastRefusal != nil {
		err = fmt.Errorf("%w; somebody was refused: %v", err, lastRefusal)
	}
	return &absenceError{local, exitcode.With(exitcode.Retry, err)}
}
