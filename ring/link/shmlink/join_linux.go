package shmlink

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	machine "ringtrain/ring/cores"
	"ringtrain/ring/exitcode"
)

// The pause between two attempts to connect. It doubles from the first to the last
// value.
const (
	firstPause = time.Millisecond
	lastPause  = 50 * time.Millisecond
)

// maxHandshakes is the maximal number of concurrent handshakes, apart from those of the
// members. Further connections are closed; a member dials again.
const maxHandshakes = 64

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

// connect connects a member to its leader, which may start later.
func (h handshaker) connect(ctx context.Context) (*net.UnixConn, error) {
	where := net.UnixAddr{Name: h.host.address(), Net: "unixpacket"}
	var last error
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		c, err := net.DialUnix("unixpacket", nil, &where)
		if err == nil {
			if err = withinTimeout(ctx, c, func() error { return h.withLeader(c) }); err == nil {
				return c, nil
			}
			c.Close()
		} else if err = socketError(err); errors.Is(err, ErrUnavailable) {
			return nil, err
		}
		if last == nil || ctx.Err() == nil {
			last = err // an attempt that ctx interrupts has no reason of its own
		}
		select {
		case <-ctx.Done():
			return nil, &absenceError{leader, exitcode.With(exitcode.Retry,
				fmt.Errorf("%s does not take this worker in: %v (%w)", h.host.name(leader), last, context.Cause(ctx)))}
		case <-time.After(pause):
		}
	}
}

// joiner is a connection after its handshake, or the error of a handshake.
type joiner struct {
	rank  int
	conn  *net.UnixConn
	cores cores
	err   error
}

// acceptMembers waits, on the leader, until all members have connected. It returns their
// connections by local rank, and the number of cores that all workers may use together.
//
// If ctx ends first, it returns the connections that exist, with the error.
func (h handshaker) acceptMembers(ctx context.Context) (conns []*net.UnixConn, cpus int, err error) {
	conns = make([]*net.UnixConn, h.host.size())
	lis, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: h.host.address(), Net: "unixpacket"})
	if err != nil {
		return conns, 0, socketError(err)
	}
	acceptCtx, shut := context.WithCancel(ctx)
	joiners := make(chan joiner)
	var serving sync.WaitGroup
	serving.Go(func() { h.serve(acceptCtx, lis, joiners) })
	defer func() {
		shut()
		lis.Close()
		serving.Wait()
	}()

	all := ownCores()
	var lastRefusal error
	for missing := h.host.size() - 1; missing > 0; {
		select {
		case <-ctx.Done():
			return conns, 0, h.absentError(ctx, conns, lastRefusal)
		case v := <-joiners:
			switch {
			case v.err != nil:
				lastRefusal = v.err
			case conns[v.rank] != nil:
				lastRefusal = fmt.Errorf("%s has come twice", h.host.name(v.rank))
				v.conn.Close()
			default:
				conns[v.rank] = v.conn
				all.add(v.cores)
				missing--
			}
		}
	}
	return conns, machine.WithinQuota(all.count()), nil
}

// serve runs the handshake of each connection in a goroutine of its own, so a silent
// stranger delays no other. It returns after acceptCtx has ended, lis is closed and all
// handshakes are over.
func (h handshaker) serve(acceptCtx context.Context, lis *net.UnixListener, joiners chan<- joiner) {
	var handshakes sync.WaitGroup
	defer handshakes.Wait()
	slots := make(chan struct{}, maxHandshakes+h.host.size())
	var turn sync.Mutex
	for {
		c, err := lis.AcceptUnix()
		if err != nil {
			if acceptCtx.Err() != nil {
				return
			}
			send(acceptCtx, joiners, joiner{err: err})
			select { // perhaps out of descriptors, which may pass
			case <-acceptCtx.Done():
			case <-time.After(lastPause):
			}
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			c.Close()
			continue
		}
		handshakes.Go(func() {
			defer func() { <-slots }()
			v := joiner{conn: c}
			v.err = withinTimeout(acceptCtx, c, func() (err error) {
				v.rank, v.cores, err = h.withMember(serialConn{c, &turn})
				return err
			})
			if !send(acceptCtx, joiners, v) || v.err != nil {
				c.Close()
			}
		})
	}
}

// send sends v and reports whether it has: not if acceptCtx ends first.
func send(acceptCtx context.Context, joiners chan<- joiner, v joiner) bool {
	select {
	case joiners <- v:
		return true
	case <-acceptCtx.Done():
		return false
	}
}

// absentError names the first member that has not connected, and the last refusal.
func (h handshaker) absentError(ctx context.Context, conns []*net.UnixConn, lastRefusal error) error {
	for i := 1; i < len(conns); i++ {
		if conns[i] != nil {
			continue
		}
		err := fmt.Errorf("%s has not come for the memory that this host shares (%w)", h.host.name(i), context.Cause(ctx))
		if lastRefusal != nil {
			err = fmt.Errorf("%w; somebody was refused: %v", err, lastRefusal)
		}
		return &absenceError{i, exitcode.With(exitcode.Retry, err)}
	}
	panic("shmlink: nobody is absent")
}

// add adds the cores of others to c.
func (c *cores) add(others cores) {
	for i, b := range others {
		c[i] |= b
	}
}

// count returns the number of cores in c.
func (c *cores) count() int {
	n := 0
	for _, b := range c {
		n += bits.OnesCount8(b)
	}
	return n
}
