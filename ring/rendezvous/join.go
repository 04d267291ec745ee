package rendezvous

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/proto"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/awake"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// Limits of the tries to reach the rendezvous.
const (
	firstBackOff   = 50 * time.Millisecond
	longestBackOff = 500 * time.Millisecond
	retryReport    = 10 * time.Second // between waiting reports, after the first at firstReport
	strangersTime  = 60 * time.Second // of nothing but servers with another token
	lately         = 10 * time.Second // before the start timeout: such a server may end its own wait a moment earlier
	reportTimeout  = 2 * time.Second  // of Report
)

// Join finds the other workers of the job and returns when all are here. Until
// then it tries again whenever the rendezvous is not reached or is lost, and
// tells o.Waiting why; after o.StartTimeout it ends with exit code 138, and with it the
// wait of all. It ends with 77 if a server with another token answered lately, and after
// 60 s of nothing but such servers.
//
// An error holds the *ring.Cause that all workers of the start get, or, where
// this worker alone is refused, its own. When ctx ends its cause is returned.
func Join(ctx context.Context, o Options) (*Session, error) {
	o.StartTimeout = cmp.Or(o.StartTimeout, DefaultStartTimeout)
	if err := o.check(); err != nil {
		return nil, err
	}
	t := newTries(&o, o.StartTimeout)
	defer t.clock.Stop()
	for {
		s, err := t.join(ctx)
		if err == nil {
			return s, nil
		}
		why, ok := errors.AsType[unreached](err)
		if !ok {
			return nil, err
		}
		if !t.again(ctx, why) {
			return nil, t.giveUp(ctx, why)
		}
	}
}

// Report tells the others of a fault that this worker found before it joined,
// and returns the job's first cause: c itself, unless another one came first or
// the rendezvous was not reached within two seconds.
func Report(ctx context.Context, o Options, c *ring.Cause) *ring.Cause {
	if o.check() != nil {
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	o.Waiting = nil // nobody waits
	t := newTries(&o, reportTimeout)
	defer t.clock.Stop()
	for {
		first, err := t.report(ctx, c)
		if err == nil {
			return first
		}
		if why, ok := errors.AsType[unreached](err); !ok || !t.again(ctx, why) {
			return c
		}
	}
}

// errLost is a rendezvous that was there, and may come again.
var errLost = unreached{why: "was reached, then lost"}

// tries are the attempts of one worker to reach the rendezvous.
type tries struct {
	o         *Options
	since     time.Time
	clock     *awake.Timer // since then, up to the limit
	limit     time.Duration
	backOff   time.Duration
	due       time.Duration // when the next waiting report is due
	strangers time.Time     // since when each attempt has met a server with another token; zero: the last has not
	stranger  unreached     // the last one of them
	met       time.Time     // and when
	seen      state.Waiting // the last that the rendezvous sent
}

func newTries(o *Options, limit time.Duration) *tries {
	return &tries{o: o, since: time.Now(), clock: awake.NewTimer(limit), limit: limit, backOff: firstBackOff, due: state.FirstReport}
}

// join makes one attempt.
func (t *tries) join(ctx context.Context) (*Session, error) {
	m, err := meet(ctx, t.o)
	if err != nil {
		return nil, err
	}
	t.strangers = time.Time{}
	j := wire.EncodeRequest(t.o.join(m.raw.LocalAddr()))
	j.Proof = m.proof
	if n := proto.Size(j); n > wire.MaxRequestBytes-1024 {
		m.close()
		return nil, finalError(t.o.cause(exitcode.Usage, fmt.Sprintf("the lines that must agree take %d bytes, want at most %d: options or variables are too many or too long", n, wire.MaxRequestBytes-1024)))
	}
	s := newSession(ctx, t.o, m, &pb.WorkerMessage{What: &pb.WorkerMessage_Join{Join: j}})
	if err := t.await(ctx, s, s.current()); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// await waits for the membership of g.
func (t *tries) await(ctx context.Context, s *Session, g *generation) error {
	// The rendezvous ends the wait. This is for one that never does, or later.
	late := awake.NewTimer(t.left() + s.Lease())
	defer late.Stop()
	for {
		select {
		case w := <-s.news:
			left := max(t.left(), 0)
			if w.Remaining > left+s.Lease() {
				late.Reset(left)
			}
			w.Remaining = min(w.Remaining, left)
			t.seen, t.backOff = w, firstBackOff
			if t.o.Waiting != nil {
				t.o.Waiting(w)
			}
		case <-g.started:
			return nil
		case <-s.over:
			if !s.told {
				return errLost
			}
			return finalError(s.cause)
		case <-late.C:
			return finalError(s.Abort(state.MissingCause(t.seen.Missing, t.seen.Present, t.seen.WorldSize, t.limit)))
		case <-ctx.Done():
			return t.canceled(ctx)
		}
	}
}

// now is the time on a clock that stands still while this process does.
func (t *tries) now() time.Time { return t.since.Add(t.clock.Elapsed()) }

// left is how long the worker will go on trying; below 0 when its time is over.
func (t *tries) left() time.Duration {
	left := t.limit - t.now().Sub(t.since)
	if !t.strangers.IsZero() {
		left = min(left, strangersTime-t.now().Sub(t.strangers))
	}
	return left
}

// note takes in why an attempt has failed. People hear of the first stranger at once.
func (t *tries) note(why unreached) {
	if !why.unproved {
		t.strangers = time.Time{}
		return
	}
	t.stranger, t.met = why, t.now()
	if t.strangers.IsZero() {
		t.strangers = t.met
		if t.due == state.FirstReport {
			t.due = 0
		}
	}
}

// report makes one attempt.
func (t *tries) report(ctx context.Context, c *ring.Cause) (*ring.Cause, error) {
	m, err := meet(ctx, t.o)
	if err != nil {
		return nil, err
	}
	t.strangers = time.Time{}
	j := wire.EncodeRequest(t.o.join(m.raw.LocalAddr()))
	j.Proof, j.Agree = m.proof, nil
	r := &pb.Report{Join: j, Cause: wire.EncodeCause(c)}
	s := newSession(ctx, t.o, m, &pb.WorkerMessage{What: &pb.WorkerMessage_Report{Report: r}})
	defer s.Close()
	select {
	case <-s.over:
		switch {
		case !s.told:
			return nil, errLost
		case s.refused:
			return c, nil // no member of that job; its end is not ours
		}
		return s.cause, nil
	case <-ctx.Done():
		return c, nil
	}
}

// again waits before the next attempt; false when there is no time for one.
func (t *tries) again(ctx context.Context, why unreached) bool {
	t.note(why)
	left := t.left()
	if left <= 0 {
		return false
	}
	if t.now().Sub(t.since) >= t.due && t.o.Waiting != nil {
		t.due += retryReport
		t.o.Waiting(state.Waiting{WorldSize: t.o.WorldSize, Missing: []state.Missing{t.rendezvous(why)}, Remaining: left})
	}
	wait := t.backOff/2 + rand.N(t.backOff/2) // apart from the others
	t.backOff = min(2*t.backOff, longestBackOff)
	timer := time.NewTimer(min(wait, left))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// rendezvous is what is missing while it is not reached.
func (t *tries) rendezvous(why unreached) state.Missing {
	m := state.Missing{Rank: -1, Address: t.o.Addr, Reason: why.why, For: t.now().Sub(t.since)}
	if t.o.InRank0 {
		m.Rank = 0
	}
	return m
}

func (t *tries) giveUp(ctx context.Context, why unreached) error {
	if ctx.Err() != nil {
		return t.canceled(ctx)
	}
	if t.stranger.unproved && t.now().Sub(t.met) < lately {
		why = t.stranger
	}
	m, after := t.rendezvous(why), t.limit
	if took := t.now().Sub(t.since); took < after {
		after = took.Round(time.Second)
	}
	text := fmt.Sprintf("rendezvous at %s not reached after %v: %s", m.Address, after, m.Reason)
	if t.o.InRank0 {
		text = state.MissingText(m, after, t.o.WorldSize)
	}
	c := &ring.Cause{Rank: m.Rank, Step: -1, Operation: state.OpJoin, Peer: m.Address, Text: text, ExitCode: exitcode.Retry}
	if why.unproved { // of the two it is this worker that will not join
		c.Rank, c.Host, c.ExitCode = t.o.Rank, t.o.Self.Host, exitcode.Auth
	}
	return finalError(c)
}

func (t *tries) canceled(ctx context.Context) error {
	return fmt.Errorf("join at %s: %w", t.o.Addr, context.Cause(ctx))
}
