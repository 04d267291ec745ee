package tcplink

import (
	"context"
	"net"
	"time"

	"ringtrain/ring/link/internal/delivery"
)

// redialer opens connections in place of a sender's that has broken.
type redialer struct {
	Patience
	life context.Context // until the link is closed
	stop context.CancelFunc

	// connect makes one attempt. The neighbour can go on between oldest, from
	// which on the sender can repeat what it has sent, and next; it says where.
	connect func(ctx context.Context, oldest, next delivery.Position) (net.Conn, delivery.Position, error)
	socket  func(net.Conn) socket // what it becomes

	repaired func(why error, took time.Duration)

	trouble trouble
	tries   int    // connections since something arrived
	dropped uint64 // what had arrived then
}

// trouble is a time in which a connection breaks again and again.
type trouble struct {
	since time.Time
	first error
}

// goesOn enters another break. It belongs to the same trouble unless something
// has arrived since, or that was long ago.
func (t *trouble) goesOn(why error, arrived bool, limit time.Duration) bool {
	if t.first != nil && !arrived && time.Since(t.since) <= limit {
		return true
	}
	t.since, t.first = time.Now(), why
	return false
}

// mend replaces the connection, which has ended for a reason, and returns nil. If
// that reason is not one to repair, or the neighbour is gone, it returns what went
// wrong first.
func (s *sender) mend(why error) error {
	r := s.redialer
	if r == nil || !isBreak(why) {
		return why
	}
	began := time.Now()
	_, _, dropped := s.kept.span()
	if !r.trouble.goesOn(why, dropped > r.dropped, r.Limit) {
		r.tries, r.dropped = 0, dropped
	}
	ctx, cancel := context.WithDeadline(r.life, began.Add(r.Limit))
	defer cancel()
	for pause := min(firstPause, r.Pause); r.tries < maxTries && ctx.Err() == nil; pause = min(2*pause, r.Pause) {
		err := s.reconnect(ctx)
		if err == nil {
			r.repaired(why, time.Since(began))
			return nil
		}
		early := s.pair.isEarly(err)
		if isGone(err) && !early {
			break
		}
		if !isDistant(err) && !early {
			r.tries++
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	return r.trouble.first
}

// reconnect makes one attempt to replace the connection, and sends again what has
// not arrived.
func (s *sender) reconnect(ctx context.Context) error {
	r := s.redialer
	attempt, cancel := context.WithTimeout(ctx, r.Attempt)
	defer cancel()
	oldest, newest, _ := s.kept.span()
	conn, next, err := r.connect(attempt, oldest, newest)
	if err != nil {
		return err
	}
	out := r.socket(conn)
	s.busy.Lock()
	defer s.busy.Unlock()
	if !s.line.replace(out) {
		out.Close()
		return net.ErrClosed
	}
	a, b, err := s.kept.rewind(next, &s.sent)
	if err == nil {
		err = write(out, a, b)
	}
	if err != nil {
		out.Close()
		return err
	}
	r.tries++
	if _, _, dropped := s.kept.span(); dropped > r.dropped {
		r.tries, r.dropped = 0, dropped
	}
	s.broken = false
	s.turned.Broadcast()
	return nil
}
