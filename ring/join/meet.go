package join

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/order"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// Config is what a worker brings to the meeting besides its place.
type Config struct {
	Token        token.Token // the zero Token on the loopback: the user's local one
	Insecure     bool        // without a token, have none, and listen beyond loopback all the same
	Version      string
	Agree        []string           // "key=value" lines that all ranks must have equal
	Offers       []rendezvous.Offer // a generation chooses what all ranks offer
	StartTimeout time.Duration      // for all ranks to join, and for a successor of a lost one; 0: rendezvous.DefaultStartTimeout
	Restarts     int                // how many lost ranks may be replaced in all, if this worker serves the rendezvous
	Lease        time.Duration      // likewise: a worker that is silent for so long is lost; 0: rendezvous.DefaultLease
	Link         string             // auto, tcp or shm
	Levels       string             // auto or flat
	Security     string             // tls or auth: how links between hosts travel; "": tls
	Order        order.Rule
	Group        ring.Config
	Waiting      func(rendezvous.Waiting) // receives the missing ranks; may be nil
	Notice       func(string)             // receives lines for people, from any goroutine; may be nil
}

// Time limits of the links' opening, after all workers have joined.
const (
	linkTimeout  = 10 * time.Second // for the links of a worker; then Meet names the neighbour
	causeTimeout = 1 * time.Second  // for a missing worker to report why
)

// The Op of a link's *ring.PeerError says which worker was to open the connection. All other
// faults of the opening concern the memory of the host.
const (
	opDial   = "handshake" // this worker
	opAccept = "accept"    // the neighbour
)

// Meet finds the other workers of the job and forms a ring with them. With world size 1 it
// opens no socket. ctx bounds the meeting only; [Team.Context] ends the team.
//
// Meet listens, joins the rendezvous, and opens the links to both neighbours, in this
// order. It tells the others of a fault of this worker, if it can reach them. The error
// holds the *ring.Cause that came first among all workers, and has its exit code. Three
// faults concern this worker alone, and end the others, if at all, with exitcode.Retry: a
// port in use (exitcode.Retry), a missing token (exitcode.Auth), and a wrong token (see
// [rendezvous.Join]).
//
// If ctx ends before the rendezvous is complete, the others wait on, for this rank may be
// started again. Later they are told. The error has the exit code of ctx's cause. A
// successor of a lost rank that the others have accepted does not return for the end of
// ctx: they have a state to save, and the successor can leave together with them.
func Meet(ctx context.Context, p place.Place, c Config) (*Team, error) {
	t, err := Gather(ctx, p, c)
	if err != nil {
		return nil, err
	}
	return t.form(ctx)
}

// form is the part of Meet that follows the membership. If it fails in this generation, it tries the
// next one.
func (t *Team) form(ctx context.Context) (*Team, error) {
	opening := ctx
	if t.members.Generation > 1 {
		opening = context.WithoutCancel(ctx)
	}
	if err := t.open(opening); err != nil {
		next, err := t.Next(ctx, t.causeOf(opening, err))
		if err != nil {
			t.Close()
		}
		return next, err
	}
	return t, nil
}

// Gather finds the other workers of the job, as [Meet] does, and stops there: it opens the port,
// serves the rendezvous if the place says so, and joins. The team has no links and no Group. It is
// for a program that wants to know which links are possible.
func Gather(ctx context.Context, p place.Place, c Config) (*Team, error) {
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case p.WorldSize == 1 && p.Rendezvous == "":
		return alone(ctx, p, c), nil
	}
	var err error
	if c.Token, err = place.TokenFor(p.Listen, c.Token, c.Insecure); err != nil {
		return nil, err
	}
	began, t := time.Now(), &Team{Rendezvous: p.Rendezvous, config: c}
	if err := t.listen(p); err != nil {
		return nil, reportListenFault(ctx, p, c, err)
	}
	o := joinOptions(p, c, t.self)
	if t.server == nil {
		o.Strangers = t.port.Strangers
	}
	s, err := rendezvous.Join(ctx, o)
	if err != nil {
		t.tellJoinFault(ctx, p, time.Since(began), err)
		t.closePort()
		return nil, explainToken(p, err)
	}
	t.session, t.member = s, s
	t.begin(s.Membership())
	t.setOwner(t.members.JobID, t.members.Rank, s.Follows)
	return t, nil
}

// explainToken adds the ways out if the rendezvous on this host has another token than this worker:
// containers may share the loopback and no runtime folder, and another user may have the port.
func explainToken(p place.Place, err error) error {
	if exitcode.Of(err) != exitcode.Auth || !p.MeetsOnLoopback() {
		return err
	}
	cause := *ring.CauseOf(err, p.Rank, rendezvous.Self("").Host, -1)
	cause.Text += ": set RINGTRAIN_TOKEN_FILE to one file for both, or give this job another port"
	return cause.WithCode()
}

// alone returns a team of one. The job ids of two such jobs differ: they may share a folder of
// checkpoints.
func alone(ctx context.Context, p place.Place, c Config) *Team {
	s := newSoloSession(ctx)
	s.report = func(cause *ring.Cause) *ring.Cause { return Report(context.WithoutCancel(ctx), p, c, cause) }
	t := &Team{config: c, session: s}
	t.begin(ring.Membership{
		JobID: cmp.Or(p.JobID, "local-"+strings.ToLower(rand.Text()[:8])), Generation: 1,
		Workers: []ring.Worker{rendezvous.Self("")}, Choices: rendezvous.ChooseAlone(c.Offers),
	})
	return t
}

// tellJoinFault tells the others why this worker could not join, if it serves the rendezvous: those
// that are here and, if the job ended before it began, those that come within the start timeout. It
// tells them nothing after an interrupted wait, for rank 0 may be started again.
func (t *Team) tellJoinFault(ctx context.Context, p place.Place, took time.Duration, err error) {
	if t.server == nil || ctx.Err() != nil {
		return
	}
	select {
	case <-t.server.Done():
		if took < cmp.Or(t.config.StartTimeout, rendezvous.DefaultStartTimeout) {
			t.server.AwaitTold(ctx, p.WorldSize)
		}
	default:
		t.server.Abort(ring.CauseOf(err, p.Rank, rendezvous.Self("").Host, -1))
	}
}

// joinOptions returns the options of worker w.
func joinOptions(p place.Place, c Config, w ring.Worker) rendezvous.Options {
	return rendezvous.Options{
		Addr: p.Rendezvous, Token: c.Token, JobID: p.JobID, Rank: p.Rank, WorldSize: p.WorldSize,
		Self: w, InRank0: p.AtRank0, Agree: c.Agree, Offers: c.Offers, Version: c.Version,
		StartTimeout: c.StartTimeout, Waiting: c.Waiting, Notice: c.Notice,
	}
}

// selfAt describes the worker of p that listens at addr.
func selfAt(p place.Place, addr string) ring.Worker {
	w := rendezvous.Self(p.KnownAs(addr))
	w.HostID = cmp.Or(p.HostID, w.HostID)
	return w
}

// open opens memory and links, and forms the group. If ctx ends before that is done, all of
// it ends.
func (t *Team) open(ctx context.Context) error {
	m := t.members
	life, end := context.WithCancelCause(t.Context()) // ends with the generation
	detach := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	var err error
	if m.Order, err = t.config.Order.Of(m.HostRanks()); err != nil {
		err = fmt.Errorf("allreduce.%w", err)
	} else {
		err = t.openGroup(life, m, t.config)
	}
	if err == nil && t.member != nil {
		t.member.SetWaitSource(t.Group.Waiting)
	}
	if err == nil && t.member != nil {
		err = t.Group.Barrier(life)
	}
	if !detach() && err == nil {
		err = context.Cause(ctx) // the group has ended with ctx
	}
	if err == nil && t.member != nil {
		t.member.Formed()
	}
	return err
}

// openGroup forms the group. It falls back to links if the host refuses shared memory.
func (t *Team) openGroup(ctx context.Context, m ring.Membership, c Config) error {
	tr, err := t.openTransport(ctx, m, c)
	if err == nil {
		t.Group, err = ring.New(ctx, m, tr, c.Group)
	}
	if err == nil {
		c.noticeClear(m)
		c.noticeUnused(t.Group)
	} else if c.Levels != "flat" && c.fallsBackToLinks(m, err) {
		c.Levels = "flat"
		return t.openGroup(ctx, m, c)
	}
	return err
}

// causeOf returns the cause of a failed opening: the end of the generation or of ctx, if
// one has come, else err. For a neighbour that was not reached the cause names both
// workers: each of them may be well, and the fault lies between them. The arrow is the
// direction of the connection, the address is its target:
//
//	link 12 -> 13 at 10.0.0.13:2222: no link after 46 attempts, the last: connection refused (gave up after 10s)
func (t *Team) causeOf(ctx context.Context, err error) *ring.Cause {
	m := t.members
	pe, ok := errors.AsType[*ring.PeerError](err)
	if _, refused := errors.AsType[*memoryRefusal](err); ok && !refused && pe.Op != opDial {
		t.awaitCause(ctx)
	}
	switch {
	case t.Context().Err() != nil:
		return ring.CauseOf(err, m.Rank, m.Self().Host, -1)
	case ctx.Err() != nil:
		return ring.CauseOf(context.Cause(ctx), m.Rank, m.Self().Host, -1)
	case !ok:
		return ring.CauseOf(err, m.Rank, m.Self().Host, -1)
	}
	text := pe.Err.Error()
	switch pe.Op {
	case opDial:
		text = fmt.Sprintf("link %d -> %d at %s: %s", m.Rank, pe.Rank, pe.Addr, text)
	case opAccept:
		text = fmt.Sprintf("link %d <- %d at %s: %s", m.Rank, pe.Rank, m.Self().Addr, text)
	}
	return &ring.Cause{
		Rank: pe.Rank, Host: pe.Host, Step: -1, Operation: pe.Op, Peer: pe.Addr, ExitCode: exitcode.Of(err), Text: text,
	}
}

// awaitCause waits causeTimeout for a cause from another worker: the missing neighbour, or
// a worker of this host that has left. This worker knows only that no connection came.
func (t *Team) awaitCause(ctx context.Context) {
	timer := time.NewTimer(causeTimeout)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	case <-ctx.Done():
	}
}
