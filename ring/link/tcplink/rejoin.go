package tcplink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"ringtrain/ring/link/internal/delivery"
)

// rejoin is how a receiver gets another connection in place of one that has broken.
// The neighbour opens it; the door hands it over.
type rejoin struct {
	Patience
	life     context.Context // until the link is closed
	stop     context.CancelFunc
	probe    func(ctx context.Context) error // tells whether the neighbour's process answers
	repaired func(why error, took time.Duration)
	leave    func() // tells the door that nobody waits any more

	called  atomic.Bool   // offer is there
	arrived chan struct{} // has room for one: offer is there
	offer   *offer        // guarded by the receiver's mu, as are
	visits  int           // offers that were expected
	taken   int           // and the last of them that came

	trouble trouble
	mark    delivery.Position // what was to come when it began
	damage  int               // corrupt frames in a row
}

// offer is a connection over which the stream would go on at next.
type offer struct {
	conn  net.Conn
	next  delivery.Position
	visit int // those of one neighbour are numbered
}

// errAgain is why a connection has ended that the neighbour has given up.
var errAgain = fmt.Errorf("the neighbour has given up the connection: %w", syscall.ECONNABORTED)

// errEnded refuses who comes back too late.
var errEnded = errors.New("the link has ended")

// expect returns an offer to come, yet without connection: where the stream goes
// on.
func (r *receiver) expect() (offer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return offer{}, errEnded
	}
	r.rejoin.visits++
	return offer{next: r.next, visit: r.rejoin.visits}, nil
}

// take hands over a connection from the neighbour, which has proved who it is, so
// that the one before is of no use any more. Its goroutines may come late: one that
// the neighbour has given up does not supplant the one after it.
func (r *receiver) take(o offer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.rejoin
	switch {
	case r.over:
		return errEnded
	case o.visit <= j.taken:
		return errAgain
	}
	if j.offer != nil {
		j.offer.conn.Close()
	}
	j.offer, j.taken = &o, o.visit
	j.called.Store(true)
	select {
	case j.arrived <- struct{}{}:
	default:
	}
	r.pair.end(errAgain)
	r.in.Close() // ends a read that blocks
	return nil
}

// mend waits for another connection in place of the one that has ended, and
// returns nil when there is one. If the reason is not one to repair, or the
// neighbour is gone, it returns what went wrong first.
func (r *receiver) mend(why error) error {
	j := r.rejoin
	if j == nil {
		return why
	}
	if r.accept() {
		return nil
	}
	if errors.Is(why, net.ErrClosed) && j.life.Err() == nil {
		why = errAgain // it was closed for an offer that has come too early
	}
	if !isBreak(why) {
		return why
	}
	if isDamage(why) {
		if j.damage++; j.damage == maxDamage {
			return why
		}
	}
	began := time.Now()
	r.in.Close() // the neighbour shall notice
	if !j.trouble.goesOn(why, j.mark.Before(r.next), j.Limit) {
		j.mark = r.next
	}
	if !r.await() {
		return j.trouble.first
	}
	if isDamage(why) {
		j.repaired(why, time.Since(began)) // the neighbour knows of the end only
	}
	return nil
}

// await waits until there is another connection, and tells whether there is one.
func (r *receiver) await() bool {
	j := r.rejoin
	ctx, cancel := context.WithDeadline(j.life, j.trouble.since.Add(j.Limit))
	defer cancel()
	gone := make(chan struct{})
	go j.watch(ctx, gone)
	for {
		select {
		case <-j.arrived:
			if r.accept() {
				return true
			}
		case <-gone:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// accept goes on over the connection that was offered. It is refused if frames
// have arrived over the old one since the neighbour was told where to go on; the
// neighbour then tries again.
func (r *receiver) accept() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.rejoin
	o := j.offer
	j.offer = nil
	j.called.Store(false)
	switch {
	case o == nil:
		return false
	case r.over || o.next != r.next:
		o.conn.Close()
		return false
	}
	r.in.Close()
	r.in, r.both = o.conn, false
	r.idle.watch(r.in)
	r.frames.reset(o.conn)
	r.count.Restart()
	r.deaf = false
	return true
}

// watch closes gone when the neighbour's process does not answer any more: where it
// listened, nobody does.
func (j *rejoin) watch(ctx context.Context, gone chan<- struct{}) {
	for pause := min(firstPause, j.Pause); ctx.Err() == nil; pause = min(2*pause, j.Pause) {
		attempt, cancel := context.WithTimeout(ctx, j.Attempt)
		err := j.probe(attempt)
		cancel()
		if errors.Is(err, syscall.ECONNREFUSED) {
			close(gone)
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}
