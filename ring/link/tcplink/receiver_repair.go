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

// reconnection obtains another connection for a receiver whose connection has broken. The
// neighbour dials; the reconnectAcceptor hands the connection over.
type reconnection struct {
	RepairTimeouts
	lifetime context.Context // ends when the link is closed
	stop     context.CancelFunc
	probe    func(ctx context.Context) error // connects to the neighbour's port
	repaired func(why error, took time.Duration)
	release  func() // tells the reconnectAcceptor that the receiver has closed

	offered     atomic.Bool   // replacement is not nil
	arrived     chan struct{} // of capacity 1: signals that replacement was set
	replacement *replacement  // guarded by the receiver's mu
	expected    int           // number of the newest expected replacement; guarded by the receiver's mu
	accepted    int           // number of the newest replacement that arrived; guarded by the receiver's mu

	outage      outage
	nextAtStart delivery.Position // next when the outage began
	corrupt     int               // corrupt frames in a row
}

// replacement is a connection from the neighbour over which the stream continues at next.
type replacement struct {
	conn   net.Conn
	next   delivery.Position
	number int // order in which the neighbour's connections were expected
}

// errSuperseded is the end of a connection that the neighbour has abandoned.
var errSuperseded = fmt.Errorf("the neighbour has given up the connection: %w", syscall.ECONNABORTED)

// errEnded refuses a neighbour that reconnects after the link has ended.
var errEnded = errors.New("the link has ended")

// expectReplacement returns a replacement without connection: the position at which the
// stream would continue, and its number.
func (r *receiver) expectReplacement() (replacement, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished {
		return replacement{}, errEnded
	}
	r.reconnection.expected++
	return replacement{next: r.next, number: r.reconnection.expected}, nil
}

// offer hands a connection over to the receiver. The neighbour has proved the token, so
// the old connection is useless. Handshakes may end out of order: a connection with a
// smaller number than one that has arrived is refused.
func (r *receiver) offer(o replacement) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.reconnection
	switch {
	case r.finished:
		return errEnded
	case o.number <= j.accepted:
		return errSuperseded
	}
	if j.replacement != nil {
		j.replacement.conn.Close()
	}
	j.replacement, j.accepted = &o, o.number
	j.offered.Store(true)
	select {
	case j.arrived <- struct{}{}:
	default:
	}
	r.shared.fail(errSuperseded)
	r.in.Close() // ends a blocked read
	return nil
}

// repair waits for a replacement of the connection, which ended for the reason why, and
// returns nil when it has one. If why is not repairable or the neighbour is gone, repair
// returns the first error of the outage.
func (r *receiver) repair(why error) error {
	j := r.reconnection
	if j == nil {
		return why
	}
	if r.adoptReplacement() {
		return nil
	}
	if errors.Is(why, net.ErrClosed) && j.lifetime.Err() == nil {
		why = errSuperseded // offer closed the connection; adoptReplacement then found frames that came later
	}
	if !isRepairable(why) {
		return why
	}
	if isCorrupt(why) {
		if j.corrupt++; j.corrupt == maxCorrupt {
			return why
		}
	}
	began := time.Now()
	r.in.Close() // so that the neighbour notices the break
	if !j.outage.continues(why, j.nextAtStart.Before(r.next), j.Limit) {
		j.nextAtStart = r.next
	}
	if !r.awaitReplacement() {
		return j.outage.first
	}
	if isCorrupt(why) {
		j.repaired(why, time.Since(began)) // the neighbour has seen only the end of the connection
	}
	return nil
}

// awaitReplacement waits for a replacement and reports whether it has adopted one.
func (r *receiver) awaitReplacement() bool {
	j := r.reconnection
	ctx, cancel := context.WithDeadline(j.lifetime, j.outage.since.Add(j.Limit))
	defer cancel()
	gone := make(chan struct{})
	go j.watchNeighbour(ctx, gone)
	for {
		select {
		case <-j.arrived:
			if r.adoptReplacement() {
				return true
			}
		case <-gone:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// adoptReplacement continues over the offered connection and reports whether there was a
// usable one. It closes the connection if frames have arrived over the old connection since
// the neighbour was told the position; the neighbour then dials again.
func (r *receiver) adoptReplacement() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.reconnection
	o := j.replacement
	j.replacement = nil
	j.offered.Store(false)
	switch {
	case o == nil:
		return false
	case r.finished || o.next != r.next:
		o.conn.Close()
		return false
	}
	r.in.Close()
	r.in, r.inShared = o.conn, false
	r.idle.attach(r.in)
	r.frames.reset(o.conn)
	r.count.Reset()
	r.ackFailed = false
	return true
}

// watchNeighbour closes gone when no process listens on the neighbour's port any more.
func (j *reconnection) watchNeighbour(ctx context.Context, gone chan<- struct{}) {
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
