package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/tcplink"
	"ringtrain/ring/token"
)

// DefaultLimit bounds an examination.
const DefaultLimit = 30 * time.Second

// reachTime is for reaching all others. Whoever is there answers at once; a name
// may need a second look, a packet a second try.
const reachTime = 5 * time.Second

// Config is what a worker brings to an examination.
type Config struct {
	Membership ring.Membership // of the workers that have met
	Links      net.Listener    // at this worker's address; see [tcplink.Open]; nil for a world of one
	Token      token.Token
	Host       Host          // of this worker, as [Inspect] returns it
	Limit      time.Duration // of the examination; 0: DefaultLimit; all ranks must have the same

	dial func(ctx context.Context, addr string) (net.Conn, error) // nil: over TCP
	now  func() time.Time                                         // the clock that is compared; nil: time.Now
}

// Examine finds out what works between the workers, all of which must call it. The
// report is for rank 0 alone, the verdict for all. It takes no longer than the
// limit and a second.
//
// A way that does not work is no error, it is in the report. An error is the end of
// ctx, with its cause, or, on another rank than 0, that no verdict has come
// (exitcode.Retry).
func Examine(ctx context.Context, c Config) (*Report, Verdict, error) {
	if c.now == nil {
		c.now = time.Now
	}
	m, limit := c.Membership, cmp.Or(c.Limit, DefaultLimit)
	c.Host.Rank = m.Rank
	if m.Size() == 1 {
		r := newReport(m)
		r.add(sheet{Host: c.Host})
		r.setClocks()
		return r, r.Verdict(), nil
	}
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	reached, err := c.reach(bounded, limit)
	if err != nil {
		return nil, Verdict{}, err
	}
	defer reached.Close()
	t := newTour(m, reached, c.now)
	t.end, t.last, t.turn = began.Add(limit*3/4), began.Add(limit*7/8), turnOf(m.Size(), limit)
	t.run(bounded)
	r, v, err := t.conclude(bounded, c.Host)
	if ctx.Err() != nil {
		return nil, Verdict{}, context.Cause(ctx)
	}
	return r, v, err
}

// reach finds the ways to the others.
func (c *Config) reach(ctx context.Context, limit time.Duration) (*tcplink.AllConns, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, min(reachTime, limit/4), errSilent)
	defer cancel()
	return tcplink.ConnectAll(ctx, c.Membership, c.Links, tcplink.Config{Token: c.Token, Dial: dialer(c.dial)})
}

var errSilent = fmt.Errorf("the connection stands, but nobody answers: %w", os.ErrDeadlineExceeded)

// conclude brings together what all have found.
func (t *tour) conclude(ctx context.Context, h Host) (*Report, Verdict, error) {
	m := t.members
	mine := sheet{Host: h}
	for _, p := range t.pairs {
		if p.To != m.Rank {
			mine.Pairs = append(mine.Pairs, p)
		}
	}
	o := t.post()
	defer o.close()
	if m.Rank != 0 {
		v, err := o.hand(ctx, mine)
		return nil, v, err
	}
	r := newReport(m)
	r.add(mine)
	soon, cancel := context.WithDeadline(ctx, t.last)
	defer cancel()
	o.gather(soon, r)
	r.setClocks()
	v := r.Verdict()
	o.announce(v)
	return r, v, nil
}
