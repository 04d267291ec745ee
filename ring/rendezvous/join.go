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

// Limits of the attempts to reach the rendezvous.
const (
	firstBackOff      = 50 * time.Millisecond
	maxBackOff        = 500 * time.Millisecond
	retryReport       = 10 * time.Second // between waiting reports, after the first at FirstReport
	wrongTokenTimeout = 60 * time.Second // of attempts that meet only servers with another token
	recentWrongToken  = 10 * time.Second // before the start timeout: such a server counts as the reason
	reportTimeout     = 2 * time.Second  // of Report
)

// Join connects to the rendezvous and returns when all workers of the job have joined. Join retries
// while the rendezvous is not reached, and calls o.Waiting with the reason. After o.StartTimeout it
// returns an error with exit code 138, which ends the wait of all workers. The exit code is 77 if a
// server with another token has answered recently, or if only such servers have answered for 60 s.
//
// An error holds the *ring.Cause that all workers get, or that of this worker if it alone is
// refused. If ctx ends, Join returns the cause of ctx.
func Join(ctx context.Context, o Options) (*Session, error) {
	o.StartTimeout = cmp.Or(o.StartTimeout, DefaultStartTimeout)
	if err := o.check(); err != nil {
		return nil, err
	}
	a := newAttempts(&o, o.StartTimeout)
	defer a.clock.Stop()
	for {
		s, err := a.join(ctx)
		if err == nil {
			return s, nil
		}
		unreached, ok := errors.AsType[unreachedError](err)
		if !ok {
			return nil, err
		}
		if !a.waitForRetry(ctx, unreached) {
			return nil, a.giveUp(ctx, unreached)
		}
	}
}

// Report reports a fault that this worker found before it joined. It returns the first cause of the
// job's end. That is c unless another cause came first. It is also c if the rendezvous is not
// reached within two seconds.
func Report(ctx context.Context, o Options, c *ring.Cause) *ring.Cause {
	if o.check() != nil {
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	o.Waiting = nil // Report does not wait for ranks
	a := newAttempts(&o, reportTimeout)
	defer a.clock.Stop()
	for {
		first, err := a.report(ctx, c)
		if err == nil {
			return first
		}
		if unreached, ok := errors.AsType[unreachedError](err); !ok || !a.waitForRetry(ctx, unreached) {
			return c
		}
	}
}

// errLost reports a rendezvous that was reached and lost. It may come back.
var errLost = unreachedError{reason: "was reached, then lost"}

// attempts holds the attempts of one worker to reach the rendezvous.
type attempts struct {
	o                *Options
	began            time.Time
	clock            *awake.Timer // runs from began to the limit while this process runs
	limit            time.Duration
	backOff          time.Duration
	nextReport       time.Duration  // when the next waiting report is due, since began
	wrongTokenSince  time.Time      // start of the attempts that all met a server with another token; zero: the last attempt did not
	lastWrongToken   unreachedError // error of the last such attempt
	lastWrongTokenAt time.Time      // time of that attempt
	lastWaiting      state.Waiting  // the last report of the rendezvous
}

func newAttempts(o *Options, limit time.Duration) *attempts {
	return &attempts{o: o, began: time.Now(), clock: awake.NewTimer(limit), limit: limit, backOff: firstBackOff, nextReport: state.FirstReport}
}

// connect makes one attempt to reach the rendezvous. Its dial may take as long as all attempts before it
// together: the first failure is told soon, and a name that is looked up slowly is found.
func (a *attempts) connect(ctx context.Context) (*connection, error) {
	o := *a.o
	o.dial = o.dial.within(max(dialTimeout, min(a.now().Sub(a.began), a.remaining(), maxDial)))
	c, err := connect(ctx, &o, o.JobID, o.Rank)
	if err == nil {
		a.wrongTokenSince = time.Time{}
	}
	return c, err
}

// join makes one attempt to join.
func (a *attempts) join(ctx context.Context) (*Session, error) {
	c, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	j := wire.EncodeRequest(a.o.request())
	c.complete(j)
	if n := proto.Size(j); n > wire.MaxRequestBytes-1024 {
		c.close()
		return nil, a.o.cause(exitcode.Usage, fmt.Sprintf("the lines that must agree take %d bytes, want at most %d: options or variables are too many or too long", n, wire.MaxRequestBytes-1024)).WithCode()
	}
	s := newSession(ctx, a.o, c, &pb.WorkerMessage{What: &pb.WorkerMessage_Join{Join: j}})
	if err := a.await(ctx, s, s.current()); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// await waits for the membership of g.
func (a *attempts) await(ctx context.Context, s *Session, g *generation) error {
	// The rendezvous ends the wait. This timer is for one that does not, or ends it later.
	late := awake.NewTimer(a.remaining() + s.Lease())
	defer late.Stop()
	for {
		select {
		case w := <-s.waitingReports:
			left := max(a.remaining(), 0)
			if w.Remaining > left+s.Lease() {
				late.Reset(left)
			}
			w.Remaining = min(w.Remaining, left)
			a.lastWaiting, a.backOff = w, firstBackOff
			if a.o.Waiting != nil {
				a.o.Waiting(w)
			}
		case <-g.started:
			return nil
		case <-s.over:
			if !s.fromRendezvous {
				return errLost
			}
			return s.cause.WithCode()
		case <-late.C:
			if !s.control.reached(s.Lease()) {
				return s.giveUp(nil).WithCode()
			}
			return s.Abort(state.MissingCause(a.lastWaiting.Missing, a.lastWaiting.Present, a.lastWaiting.WorldSize, a.limit)).WithCode()
		case <-ctx.Done():
			return a.canceled(ctx)
		}
	}
}

// now returns the time on a clock that stands still while this process does.
func (a *attempts) now() time.Time { return a.began.Add(a.clock.Elapsed()) }

// remaining returns how long the worker goes on trying. It is negative when the time is over.
func (a *attempts) remaining() time.Duration {
	left := a.limit - a.now().Sub(a.began)
	if !a.wrongTokenSince.IsZero() {
		left = min(left, wrongTokenTimeout-a.now().Sub(a.wrongTokenSince))
	}
	return left
}

// noteFailure stores why an attempt failed. People hear of the first server with another token at
// once.
func (a *attempts) noteFailure(err unreachedError) {
	if !err.wrongToken {
		a.wrongTokenSince = time.Time{}
		return
	}
	a.lastWrongToken, a.lastWrongTokenAt = err, a.now()
	if a.wrongTokenSince.IsZero() {
		a.wrongTokenSince = a.lastWrongTokenAt
		if a.nextReport == state.FirstReport {
			a.nextReport = 0
		}
	}
}

// report makes one attempt to report c.
func (a *attempts) report(ctx context.Context, c *ring.Cause) (*ring.Cause, error) {
	conn, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	j := wire.EncodeRequest(a.o.request())
	conn.complete(j)
	j.Agree = nil
	r := &pb.Report{Join: j, Cause: wire.EncodeCause(c)}
	s := newSession(ctx, a.o, conn, &pb.WorkerMessage{What: &pb.WorkerMessage_Report{Report: r}})
	defer s.Close()
	select {
	case <-s.over:
		switch {
		case !s.fromRendezvous:
			return nil, errLost
		case s.refused:
			return c, nil // the worker is no member of that job
		}
		return s.cause, nil
	case <-ctx.Done():
		return c, nil
	}
}

// waitForRetry waits before the next attempt. It returns false if no time is left.
func (a *attempts) waitForRetry(ctx context.Context, err unreachedError) bool {
	a.noteFailure(err)
	left := a.remaining()
	if left <= 0 {
		return false
	}
	if a.now().Sub(a.began) >= a.nextReport && a.o.Waiting != nil {
		a.nextReport += retryReport
		a.o.Waiting(state.Waiting{WorldSize: a.o.WorldSize, Missing: []state.Missing{a.missingRendezvous(err)}, Remaining: left})
	}
	wait := a.backOff/2 + rand.N(a.backOff/2) // random, so workers do not retry in step
	a.backOff = min(2*a.backOff, maxBackOff)
	timer := time.NewTimer(min(wait, left))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// missingRendezvous describes the rendezvous as a missing rank.
func (a *attempts) missingRendezvous(err unreachedError) state.Missing {
	m := state.Missing{Rank: -1, Address: a.o.Addr, Reason: err.reason, For: a.now().Sub(a.began)}
	if a.o.InRank0 {
		m.Rank = 0
	}
	return m
}

func (a *attempts) giveUp(ctx context.Context, err unreachedError) error {
	if ctx.Err() != nil {
		return a.canceled(ctx)
	}
	if a.lastWrongToken.wrongToken && a.now().Sub(a.lastWrongTokenAt) < recentWrongToken {
		err = a.lastWrongToken
	}
	m, after := a.missingRendezvous(err), a.limit
	if took := a.now().Sub(a.began); took < after {
		after = took.Round(time.Second)
	}
	text := fmt.Sprintf("rendezvous at %s not reached after %v: %s", m.Address, after, m.Reason)
	if a.o.InRank0 {
		text = state.MissingText(m, after, a.o.WorldSize)
	}
	c := &ring.Cause{Rank: m.Rank, Step: -1, Operation: state.OpJoin, Peer: m.Address, Text: text, ExitCode: exitcode.Retry}
	if err.wrongToken { // this worker, not the rendezvous, has the wrong token
		c.Rank, c.Host, c.ExitCode = a.o.Rank, a.o.Self.Host, exitcode.Auth
		c.Text = fmt.Sprintf("%s %s; gave up after %v", m.Address, m.Reason, after)
	}
	return c.WithCode()
}

func (a *attempts) canceled(ctx context.Context) error {
	return fmt.Errorf("join at %s: %w", a.o.Addr, context.Cause(ctx))
}
