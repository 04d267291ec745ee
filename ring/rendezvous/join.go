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
	t := newAttempts(&o, o.StartTimeout)
	defer t.clock.Stop()
	for {
		s, err := t.join(ctx)
		if err == nil {
			return s, nil
		}
		why, ok := errors.AsType[unreachedError](err)
		if !ok {
			return nil, err
		}
		if !t.waitForRetry(ctx, why) {
			return nil, t.giveUp(ctx, why)
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
	t := newAttempts(&o, reportTimeout)
	defer t.clock.Stop()
	for {
		first, err := t.report(ctx, c)
		if err == nil {
			return first
		}
		if why, ok := errors.AsType[unreachedError](err); !ok || !t.waitForRetry(ctx, why) {
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

// join makes one attempt to join.
func (t *attempts) join(ctx context.Context) (*Session, error) {
	m, err := connect(ctx, t.o)
	if err != nil {
		return nil, err
	}
	t.wrongTokenSince = time.Time{}
	j := wire.EncodeRequest(t.o.request(m.raw.LocalAddr()))
	j.Proof = m.proof
	if n := proto.Size(j); n > wire.MaxRequestBytes-1024 {
		m.close()
		return nil, causeError(t.o.cause(exitcode.Usage, fmt.Sprintf("the lines that must agree take %d bytes, want at most %d: options or variables are too many or too long", n, wire.MaxRequestBytes-1024)))
	}
	s := newSession(ctx, t.o, m, &pb.WorkerMessage{What: &pb.WorkerMessage_Join{Join: j}})
	if err := t.await(ctx, s, s.current()); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// await waits for the membership of g.
func (t *attempts) await(ctx context.Context, s *Session, g *generation) error {
	// The rendezvous ends the wait. This timer is for one that does not, or ends it later.
	late := awake.NewTimer(t.remaining() + s.Lease())
	defer late.Stop()
	for {
		select {
		case w := <-s.waitingReports:
			left := max(t.remaining(), 0)
			if w.Remaining > left+s.Lease() {
				late.Reset(left)
			}
			w.Remaining = min(w.Remaining, left)
			t.lastWaiting, t.backOff = w, firstBackOff
			if t.o.Waiting != nil {
				t.o.Waiting(w)
			}
		case <-g.started:
			return nil
		case <-s.over:
			if !s.fromRendezvous {
				return errLost
			}
			return causeError(s.cause)
		case <-late.C:
			return causeError(s.Abort(state.MissingCause(t.lastWaiting.Missing, t.lastWaiting.Present, t.lastWaiting.WorldSize, t.limit)))
		case <-ctx.Done():
			return t.canceled(ctx)
		}
	}
}

// now returns the time on a clock that stands still while this process does.
func (t *attempts) now() time.Time { return t.began.Add(t.clock.Elapsed()) }

// remaining returns how long the worker goes on trying. It is negative when the time is over.
func (t *attempts) remaining() time.Duration {
	left := t.limit - t.now().Sub(t.began)
	if !t.wrongTokenSince.IsZero() {
		left = min(left, wrongTokenTimeout-t.now().Sub(t.wrongTokenSince))
	}
	return left
}

// noteFailure stores why an attempt failed. People hear of the first server with another token at
// once.
func (t *attempts) noteFailure(why unreachedError) {
	if !why.wrongToken {
		t.wrongTokenSince = time.Time{}
		return
	}
	t.lastWrongToken, t.lastWrongTokenAt = why, t.now()
	if t.wrongTokenSince.IsZero() {
		t.wrongTokenSince = t.lastWrongTokenAt
		if t.nextReport == state.FirstReport {
			t.nextReport = 0
		}
	}
}

// report makes one attempt to report c.
func (t *attempts) report(ctx context.Context, c *ring.Cause) (*ring.Cause, error) {
	m, err := connect(ctx, t.o)
	if err != nil {
		return nil, err
	}
	t.wrongTokenSince = time.Time{}
	j := wire.EncodeRequest(t.o.request(m.raw.LocalAddr()))
	j.Proof, j.Agree = m.proof, nil
	r := &pb.Report{Join: j, Cause: wire.EncodeCause(c)}
	s := newSession(ctx, t.o, m, &pb.WorkerMessage{What: &pb.WorkerMessage_Report{Report: r}})
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
func (t *attempts) waitForRetry(ctx context.Context, why unreachedError) bool {
	t.noteFailure(why)
	left := t.remaining()
	if left <= 0 {
		return false
	}
	if t.now().Sub(t.began) >= t.nextReport && t.o.Waiting != nil {
		t.nextReport += retryReport
		t.o.Waiting(state.Waiting{WorldSize: t.o.WorldSize, Missing: []state.Missing{t.missingRendezvous(why)}, Remaining: left})
	}
	wait := t.backOff/2 + rand.N(t.backOff/2) // random, so workers do not retry in step
	t.backOff = min(2*t.backOff, maxBackOff)
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
func (t *attempts) missingRendezvous(why unreachedError) state.Missing {
	m := state.Missing{Rank: -1, Address: t.o.Addr, Reason: why.reason, For: t.now().Sub(t.began)}
	if t.o.InRank0 {
		m.Rank = 0
	}
	return m
}

func (t *attempts) giveUp(ctx context.Context, why unreachedError) error {
	if ctx.Err() != nil {
		return t.canceled(ctx)
	}
	if t.lastWrongToken.wrongToken && t.now().Sub(t.lastWrongTokenAt) < recentWrongToken {
		why = t.lastWrongToken
	}
	m, after := t.missingRendezvous(why), t.limit
	if took := t.now().Sub(t.began); took < after {
		after = took.Round(time.Second)
	}
	text := fmt.Sprintf("rendezvous at %s not reached after %v: %s", m.Address, after, m.Reason)
	if t.o.InRank0 {
		text = state.MissingText(m, after, t.o.WorldSize)
	}
	c := &ring.Cause{Rank: m.Rank, Step: -1, Operation: state.OpJoin, Peer: m.Address, Text: text, ExitCode: exitcode.Retry}
	if why.wrongToken { // this worker, not the rendezvous, has the wrong token
		c.Rank, c.Host, c.ExitCode = t.o.Rank, t.o.Self.Host, exitcode.Auth
	}
	return causeError(c)
}

func (t *attempts) canceled(ctx context.Context) error {
	return fmt.Errorf("join at %s: %w", t.o.Addr, context.Cause(ctx))
}
