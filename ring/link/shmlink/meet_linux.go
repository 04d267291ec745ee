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

// The pause between two attempts to connect: it doubles from the first to the
// last.
const (
	firstPause = time.Millisecond
	lastPause  = 50 * time.Millisecond
)

// maxGuests is how many connections may greet at the same time, the members'
// apart. What is beyond is closed; a member tries again.
const maxGuests = 64

// denials are the errors of a system that lets nobody use unix sockets, or pass
// descriptors through them.
var denials = []error{
	unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EINVAL, unix.ETOOMANYREFS,
	unix.EAFNOSUPPORT, unix.EPROTONOSUPPORT, unix.ESOCKTNOSUPPORT, unix.EOPNOTSUPP,
}

func denied(err error) bool {
	return slices.ContainsFunc(denials, func(e error) bool { return errors.Is(err, e) })
}

// socketError says what err means for a worker that wants to meet the others.
func socketError(err error) error {
	if denied(err) {
		return fmt.Errorf("%w: unix socket: %w", ErrUnavailable, err)
	}
	return exitcode.With(exitcode.Retry, fmt.Errorf("unix socket: %w", err))
}

// connect joins a member to its leader, which may be late.
func (g greeter) connect(ctx context.Context) (*net.UnixConn, error) {
	where := net.UnixAddr{Name: g.host.address(), Net: "unixpacket"}
	var last error
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		c, err := net.DialUnix("unixpacket", nil, &where)
		if err == nil {
			if err = within(ctx, c, func() error { return g.greetLeader(c) }); err == nil {
				return c, nil
			}
			c.Close()
		} else if err = socketError(err); errors.Is(err, ErrUnavailable) {
			return nil, err
		}
		if last == nil || ctx.Err() == nil {
			last = err // what the end of ctx breaks off tells nothing
		}
		select {
		case <-ctx.Done():
			return nil, &absence{leader, exitcode.With(exitcode.Retry,
				fmt.Errorf("%s does not take this worker in: %v (%w)", g.host.name(leader), last, context.Cause(ctx)))}
		case <-time.After(pause):
		}
	}
}

// A guest is a connection that has greeted well, or the error of one that has
// not.
type guest struct {
	rank  int
	conn  *net.UnixConn
	cores cores
	err   error
}

// gather waits, as the leader, until all members have come, and returns their
// connections by local rank and the number of cores that all workers may use
// together.
//
// If ctx ends before, those who came are returned with the error.
func (g greeter) gather(ctx context.Context) (conns []*net.UnixConn, cpus int, err error) {
	conns = make([]*net.UnixConn, g.host.size())
	lis, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: g.host.address(), Net: "unixpacket"})
	if err != nil {
		return conns, 0, socketError(err)
	}
	door, shut := context.WithCancel(ctx)
	guests := make(chan guest)
	var inside sync.WaitGroup
	inside.Go(func() { g.welcome(door, lis, guests) })
	defer func() {
		shut()
		lis.Close()
		inside.Wait()
	}()

	all := ownCores()
	var refused error
	for missing := g.host.size() - 1; missing > 0; {
		select {
		case <-ctx.Done():
			return conns, 0, g.absent(ctx, conns, refused)
		case v := <-guests:
			switch {
			case v.err != nil:
				refused = v.err
			case conns[v.rank] != nil:
				refused = fmt.Errorf("%s has come twice", g.host.name(v.rank))
				v.conn.Close()
			default:
				conns[v.rank] = v.conn
				all.add(v.cores)
				missing--
			}
		}
	}
	return conns, machine.Limited(all.count()), nil
}

// welcome greets whoever comes, each in a goroutine of its own, so that one that
// is silent holds up nobody. It returns after all of them, once door has ended
// and lis is closed.
func (g greeter) welcome(door context.Context, lis *net.UnixListener, guests chan<- guest) {
	var greeting sync.WaitGroup
	defer greeting.Wait()
	seats := make(chan struct{}, maxGuests+g.host.size())
	var turn sync.Mutex
	for {
		c, err := lis.AcceptUnix()
		if err != nil {
			if door.Err() != nil {
				return
			}
			send(door, guests, guest{err: err})
			select { // out of descriptors, maybe; it may pass
			case <-door.Done():
			case <-time.After(lastPause):
			}
			continue
		}
		select {
		case seats <- struct{}{}:
		default:
			c.Close()
			continue
		}
		greeting.Go(func() {
			defer func() { <-seats }()
			v := guest{conn: c}
			v.err = within(door, c, func() (err error) {
				v.rank, v.cores, err = g.greetMember(inTurn{c, &turn})
				return err
			})
			if !send(door, guests, v) || v.err != nil {
				c.Close()
			}
		})
	}
}

// send hands v on, unless door ends before.
func send(door context.Context, guests chan<- guest, v guest) bool {
	select {
	case guests <- v:
		return true
	case <-door.Done():
		return false
	}
}

// absent says who has not come, and who was refused last.
func (g greeter) absent(ctx context.Context, conns []*net.UnixConn, refused error) error {
	for i := 1; i < len(conns); i++ {
		if conns[i] != nil {
			continue
		}
		err := fmt.Errorf("%s has not come for the memory that this host shares (%w)", g.host.name(i), context.Cause(ctx))
		if refused != nil {
			err = fmt.Errorf("%w; somebody was refused: %v", err, refused)
		}
		return &absence{i, exitcode.With(exitcode.Retry, err)}
	}
	panic("shmlink: nobody is absent")
}

// add makes c the cores of both.
func (c *cores) add(others cores) {
	for i, b := range others {
		c[i] |= b
	}
}

// count returns how many cores c has.
func (c *cores) count() int {
	n := 0
	for _, b := range c {
		n += bits.OnesCount8(b)
	}
	return n
}
