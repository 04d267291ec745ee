package tcplink

import (
	"context"
	"net"
	"time"

	"ringtrain/ring/link/internal/delivery"
)

// redialer opens replacements of a sender's broken connection.
type redialer struct {
	RepairTimeouts
	lifetime context.Context // ends when the link is closed
	stop     context.CancelFunc

	// connect makes one attempt. The sender can repeat the frames from oldest on and
	// has sent none from next on; the neighbour answers with a position between the two.
	connect func(ctx context.Context, oldest, next delivery.Position) (net.Conn, delivery.Position, error)
	socket  func(net.Conn) socket // Config.socket

	repaired func(why error, took time.Duration)

	outage   outage
	attempts int    // connections since the neighbour last acknowledged a frame
	dropped  uint64 // bytes acknowledged by then
}

// outage is a sequence of breaks with no progress between them.
type outage struct {
	since time.Time
	first error
}

// continues records another break and reports whether it belongs to the current outage. A
// new outage begins if frames have arrived since, or after limit.
func (t *outage) continues(why error, arrived bool, limit time.Duration) bool {
	if t.first != nil && !arrived && time.Since(t.since) <= limit {
		return true
	}
	t.since, t.first = time.Now(), why
	return false
}

// repair replaces the connection, which ended for the reason why, and returns nil. If why
// is not repairable or the neighbour is gone, it returns the first error of the outage.
func (s *sender) repair(why error) error {
	r := s.redialer
	if r == nil || !isRepairable(why) {
		return why
	}
	began := time.Now()
	_, _, dropped := s.unacked.bounds()
	if !r.outage.continues(why, dropped > r.dropped, r.Limit) {
		r.attempts, r.dropped = 0, dropped
	}
	ctx, cancel := context.WithDeadline(r.lifetime, began.Add(r.Limit))
	defer cancel()
	for pause := min(firstPause, r.Pause); r.attempts < maxRepairs && ctx.Err() == nil; pause = min(2*pause, r.Pause) {
		err := s.reconnect(ctx)
		if err == nil {
			r.repaired(why, time.Since(began))
			return nil
		}
		early := s.shared.stillOpening(err)
		if isGone(err) && !early {
			break
		}
		if !isUnreachable(err) && !early {
			r.attempts++
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	return r.outage.first
}

// reconnect makes one attempt to replace the connection and sends the frames that have not
// arrived again.
func (s *sender) reconnect(ctx context.Context) error {
	r := s.redialer
	attempt, cancel := context.WithTimeout(ctx, r.Attempt)
	defer cancel()
	oldest, newest, _ := s.unacked.bounds()
	conn, next, err := r.connect(attempt, oldest, newest)
	if err != nil {
		return err
	}
	out := r.socket(conn)
	s.writing.Lock()
	defer s.writing.Unlock()
	if !s.conn.replace(out) {
		out.Close()
		return net.ErrClosed
	}
	a, b, err := s.unacked.rewind(next, &s.sent)
	if err == nil {
		err = write(out, a, b)
	}
	if err != nil {
		out.Close()
		return err
	}
	r.attempts++
	if _, _, dropped := s.unacked.bounds(); dropped > r.dropped {
		r.attempts, r.dropped = 0, dropped
	}
	s.broken = false
	s.stateChanged.Broadcast()
	return nil
}
