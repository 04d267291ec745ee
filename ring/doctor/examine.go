package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/tcplink"
	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

// DefaultLimit bounds an examination.
const DefaultLimit = 30 * time.Second

// connectTimeout bounds the connects to all others. A worker that runs answers at once; a name
// may need a second lookup, a packet a retransmission.
const connectTimeout = 5 * time.Second

// askTimeout bounds the question whether small packets pass.
const askTimeout = time.Second

// Config has the options of an examination on one worker.
type Config struct {
	Membership ring.Membership // of the workers that have met
	Links      *port.Queue     // at this worker's address; see [tcplink.Open]; nil for a world of one
	Token      token.Token
	Host       Host          // of this worker, as [Inspect] returns it
	Limit      time.Duration // of the examination; 0: DefaultLimit; all ranks must have the same

	dial func(ctx context.Context, addr string) (net.Conn, error) // nil: over TCP
	now  func() time.Time                                         // this worker's clock; nil: time.Now
}

// Examine examines the connections between the workers; all of them must call it. It returns the
// report on rank 0, and nil on the other ranks. It takes at most the limit. A pair that cannot connect
// is no error but a part of the report. Examine returns an error if ctx ends, with its cause.
func Examine(ctx context.Context, c Config) (*Report, error) {
	if c.now == nil {
		c.now = time.Now
	}
	m := c.Membership
	if m.Size() == 1 {
		r := newReport(m)
		r.add(0, rankReport{c.Host, make([]Pair, 1)})
		return r, nil
	}
	s := c.connect(ctx, cmp.Or(c.Limit, DefaultLimit))
	defer s.conns.Close()
	all := tcplink.AllConns{Out: slices.Clone(s.conns.Out), In: slices.Clone(s.conns.In)} // the survey drops those that fail
	defer context.AfterFunc(ctx, func() { all.Close() })()
	s.measureAll()
	var r *Report
	if m.Rank == 0 {
		r = s.gather(c.Host)
	} else if conn := cmp.Or(s.conns.In[0], s.conns.Out[0]); conn != nil {
		conn.SetDeadline(s.end)
		send(conn, rankReport{c.Host, s.pairs}) // rank 0 tells of a report that it misses
	}
	return r, context.Cause(ctx)
}

// survey is one worker's part of an examination.
type survey struct {
	members    ring.Membership
	conns      *tcplink.AllConns // a connection that has failed is nil
	pairs      []Pair            // from this worker, by rank
	measureEnd time.Time         // deadline of all measurements
	end        time.Time         // deadline of the reports to rank 0
	burstTime  time.Duration
	now        func() time.Time
}

// connect connects to all others, and records the ranks that could not be reached.
func (c *Config) connect(ctx context.Context, limit time.Duration) *survey {
	m, began := c.Membership, time.Now()
	s := &survey{
		members: m, now: c.now, pairs: make([]Pair, m.Size()), burstTime: burstTime(m.Size(), limit),
		measureEnd: began.Add(limit * 3 / 4), end: began.Add(limit),
	}
	connecting, cancel := context.WithTimeoutCause(ctx, min(connectTimeout, limit/4), errSilent)
	defer cancel()
	s.conns = tcplink.ConnectAll(connecting, m, c.Links, tcplink.Config{Token: c.Token, Dial: c.open})
	var asking sync.WaitGroup
	for rank, w := range m.Workers {
		s.pairs[rank] = Pair{From: m.Rank, To: rank, Address: w.Addr}
		if rank != m.Rank && s.conns.Out[rank] == nil {
			asking.Go(func() { s.pairs[rank].fail(c.whyUnproved(ctx, w.Addr, s.conns.Why[rank])) })
		}
	}
	asking.Wait()
	return s
}

// whyUnproved returns err, unless a worker of the job answers in clear where no link was proved: small
// packets pass then, and those of TLS are large.
func (c *Config) whyUnproved(ctx context.Context, addr string, err error) error {
	if exitcode.Of(err) != exitcode.Failed {
		return err // of a worker that has proved itself
	}
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	socket, failed := c.open(asking, addr)
	if failed != nil {
		return err
	}
	_, _, failed = c.Token.DialClear(asking, socket, token.Request{Purpose: token.Owner})
	if exitcode.Of(failed) == exitcode.Failed { // not the proved refusal: an owner is not told in clear
		return err
	}
	return errors.New("small packets pass, larger packets do not (MTU?)")
}

// errSilent ends a handshake to which the other end says nothing.
var errSilent = fmt.Errorf("connected, but no answer: %w", os.ErrDeadlineExceeded)

func (p *Pair) fail(err error) {
	p.Fault, p.Code = reason(err), exitcode.Of(exitcode.With(exitcode.Retry, err))
}

// measureAll measures with each other worker, and answers while the other worker measures. The
// lower rank of two is the first.
func (s *survey) measureAll() {
	rates, me, size := bandwidthRanks(s.members), s.members.Rank, s.members.Size()
	for round := range size {
		other := (round - me + size) % size
		turn := s.burstTime
		if !rates[me] || !rates[other] {
			turn = 0
		}
		switch {
		case me < other:
			s.measure(other, turn)
			s.answer(other)
		case me > other:
			s.answer(other)
			s.measure(other, turn)
		}
	}
}

// measure measures the pair with a partner. It closes a connection that fails, so that the other
// end notices.
func (s *survey) measure(other int, turn time.Duration) {
	conn, p := s.conns.Out[other], &s.pairs[other]
	if conn == nil {
		return
	}
	if err := p.measure(conn, s.measureEnd, turn, s.now); err != nil {
		conn.Close()
		s.conns.Out[other] = nil
		p.fail(err)
	}
}

// answer answers while a partner measures.
func (s *survey) answer(other int) {
	conn := s.conns.In[other]
	if conn == nil {
		return
	}
	if err := answer(conn, s.measureEnd, s.now); err != nil {
		conn.Close()
		s.conns.In[other] = nil
	}
}

// gather receives the reports of the others on rank 0.
func (s *survey) gather(h Host) *Report {
	r := newReport(s.members)
	r.add(0, rankReport{h, s.pairs})
	var mu sync.Mutex // guards r
	var receiving sync.WaitGroup
	for rank, conn := range s.conns.Out {
		if conn = cmp.Or(conn, s.conns.In[rank]); conn == nil {
			continue
		}
		receiving.Go(func() {
			conn.SetDeadline(s.end)
			var theirs rankReport
			if receive(conn, &theirs) == nil {
				mu.Lock()
				defer mu.Unlock()
				r.add(rank, theirs)
			}
		})
	}
	receiving.Wait()
	return r
}
