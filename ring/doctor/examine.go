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

// connectTimeout bounds the connects to all others. A worker that runs answers at once; a name
// may need a second lookup, a packet a retransmission.
const connectTimeout = 5 * time.Second

// Config has the options of an examination on one worker.
type Config struct {
	Membership ring.Membership // of the workers that have met
	Links      net.Listener    // at this worker's address; see [tcplink.Open]; nil for a world of one
	Token      token.Token
	Host       Host          // of this worker, as [Inspect] returns it
	Limit      time.Duration // of the examination; 0: DefaultLimit; all ranks must have the same

	dial func(ctx context.Context, addr string) (net.Conn, error) // nil: over TCP
	now  func() time.Time                                         // this worker's clock; nil: time.Now
}

// Examine examines the connections between the workers; all of them must call it. It returns the
// report on rank 0 only, and the verdict on all ranks. It takes at most the limit and a
// second.
//
// A pair that cannot connect is no error but a part of the report. Examine returns an error if ctx
// ends, with its cause, or, on a rank other than 0, if no verdict arrives
// (exitcode.Retry).
func Examine(ctx context.Context, c Config) (*Report, Verdict, error) {
	if c.now == nil {
		c.now = time.Now
	}
	m, limit := c.Membership, cmp.Or(c.Limit, DefaultLimit)
	c.Host.Rank = m.Rank
	if m.Size() == 1 {
		r := newReport(m)
		r.add(rankReport{Host: c.Host})
		r.setClocks()
		return r, r.Verdict(), nil
	}
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	reached, err := c.connect(bounded, limit)
	if err != nil {
		return nil, Verdict{}, err
	}
	defer reached.Close()
	t := newSurvey(m, reached, c.now)
	t.measureEnd, t.collectEnd, t.burstTime = began.Add(limit*3/4), began.Add(limit*7/8), burstTime(m.Size(), limit)
	t.run(bounded)
	r, v, err := t.collect(bounded, c.Host)
	if ctx.Err() != nil {
		return nil, Verdict{}, context.Cause(ctx)
	}
	return r, v, err
}

// connect connects to all others.
func (c *Config) connect(ctx context.Context, limit time.Duration) (*tcplink.AllConns, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, min(connectTimeout, limit/4), errSilent)
	defer cancel()
	return tcplink.ConnectAll(ctx, c.Membership, c.Links, tcplink.Config{Token: c.Token, Dial: dialer(c.dial)})
}

var errSilent = fmt.Errorf("connected, but no answer: %w", os.ErrDeadlineExceeded)

// collect brings the reports of all ranks together.
func (t *survey) collect(ctx context.Context, h Host) (*Report, Verdict, error) {
	m := t.members
	mine := rankReport{Host: h}
	for _, p := range t.pairs {
		if p.To != m.Rank {
			mine.Pairs = append(mine.Pairs, p)
		}
	}
	o := t.newCollector()
	defer o.close()
	if m.Rank != 0 {
		v, err := o.report(ctx, mine)
		return nil, v, err
	}
	r := newReport(m)
	r.add(mine)
	soon, cancel := context.WithDeadline(ctx, t.collectEnd)
	defer cancel()
	o.gather(soon, r)
	r.setClocks()
	v := r.Verdict()
	o.broadcast(v)
	return r, v, nil
}
