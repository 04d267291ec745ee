package launch

import (
	"context"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/grpclink"
	"ringtrain/ring/link/tcplink"
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous"
)

// MeetConfig is what a worker brings to the meeting besides its place.
type MeetConfig struct {
	Token        ring.Token
	Insecure     bool // listen beyond loopback without a token
	Version      string
	Agree        []string // "key=value" lines that all ranks must have equal
	StartTimeout time.Duration
	Link         string // auto, tcp or grpc
	Group        ring.Config
	Waiting      func(rendezvous.Waiting) // told who is missing; may be nil
	Notice       func(string)             // told what a person should know; may be nil
}

// Team is this worker among the others of its job: the group that they form
// and the session with the rendezvous that watches over it.
type Team struct {
	Group      *ring.Group
	Rendezvous string // its address, "" for world size 1
	Link       string // tcp, grpc, or none for world size 1

	ctx     context.Context     // the generation's
	session *rendezvous.Session // nil for a team of one
	hub     *hub
}

// drainTime bounds how long a worker that serves the rendezvous waits for the
// others to hear the end.
const drainTime = 2 * time.Second

// Meet finds the other workers of the job and joins them in a ring. With world
// size 1 it opens no socket. An error after the first contact has been told to
// the rendezvous, and is the first cause if there was an earlier one.
func Meet(ctx context.Context, p Place, c MeetConfig) (*Team, error) {
	if p.WorldSize == 1 && p.Rendezvous == "" {
		return alone(ctx, c)
	}
	h, err := open(p, c)
	if err != nil {
		return nil, report(ctx, p, c, err)
	}
	s, err := rendezvous.Join(ctx, h.options(p, c))
	if err != nil {
		h.close()
		return nil, err
	}
	t := &Team{Rendezvous: p.Rendezvous, ctx: s.Context(), session: s, hub: h}
	if err := t.link(ctx, c); err != nil {
		err = t.Abort(ring.CauseOf(err, s.Membership().Rank, s.Membership().Self().Host, -1))
		t.Close()
		return nil, err
	}
	return t, nil
}

// alone is a team of one.
func alone(ctx context.Context, c MeetConfig) (*Team, error) {
	self := rendezvous.Self("")
	m := ring.Membership{JobID: "local", Generation: 1, Workers: []ring.Worker{self}}
	g, err := ring.New(ctx, m, nil, c.Group)
	if err != nil {
		return nil, err
	}
	return &Team{Group: g, Link: "none", ctx: ctx}, nil
}

// link opens the link to the neighbours and forms the group.
func (t *Team) link(ctx context.Context, c MeetConfig) error {
	m := t.session.Membership()
	if m.Size() == 1 {
		t.Link = "none"
		g, err := ring.New(t.ctx, m, nil, c.Group)
		t.Group = g
		return err
	}
	open, cancel := context.WithTimeout(t.ctx, max(c.StartTimeout, time.Second))
	defer cancel()
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	link, err := t.hub.link(open, m, c)
	if err != nil {
		return err
	}
	t.Link = linkName(c.Link)
	t.Group, err = ring.New(t.ctx, m, link, c.Group)
	return err
}

func linkName(option string) string {
	if option == "grpc" {
		return "grpc"
	}
	return "tcp"
}

// Progress tells the rendezvous how far this worker is.
func (t *Team) Progress(step int64, phase string) {
	if t.session != nil {
		t.session.Progress(step, phase)
	}
}

// Context ends when the generation ends, with the first cause.
func (t *Team) Context() context.Context { return t.ctx }

// Abort tells all workers what went wrong here and returns the first cause of
// the job's end, which may be another.
func (t *Team) Abort(c *ring.Cause) *ring.Cause {
	if t.session == nil {
		return c
	}
	return t.session.Abort(c)
}

// Leave ends the job in good order: it returns when all workers have left, or
// the first cause if one of them did not make it.
func (t *Team) Leave(ctx context.Context) error {
	if t.session == nil {
		return nil
	}
	return t.session.Leave(ctx)
}

// Close releases everything. A worker that serves the rendezvous first waits
// for the others to hear the end.
func (t *Team) Close() error {
	var err error
	if t.Group != nil {
		err = t.Group.Close()
	}
	if t.session != nil {
		t.session.Close()
	}
	if t.hub != nil {
		t.hub.close()
	}
	return err
}

// Report tells the other workers of a fault that this one found before it
// could meet them. It takes 2 s at most and returns the first cause.
func Report(ctx context.Context, p Place, c MeetConfig, cause *ring.Cause) *ring.Cause {
	if p.Rendezvous == "" || p.Rank < 0 {
		return cause
	}
	if !p.Serve {
		return rendezvous.Report(ctx, reportOptions(p, c), cause)
	}
	h, err := open(p, c)
	if err != nil {
		return cause
	}
	h.server.Abort(cause)
	linger, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	<-linger.Done() // the others come to ask: each is told the cause
	h.close()
	return cause
}

// report tells the others of a fault of this worker's own and returns it.
func report(ctx context.Context, p Place, c MeetConfig, err error) error {
	host, _ := os.Hostname()
	cause := ring.CauseOf(err, p.Rank, host, -1)
	if !p.Serve && cause.ExitCode != exitcode.Auth && p.Rank >= 0 {
		rendezvous.Report(ctx, reportOptions(p, c), cause)
	}
	return cause
}

func reportOptions(p Place, c MeetConfig) rendezvous.Options {
	return rendezvous.Options{
		Addr: p.Rendezvous, Token: c.Token, JobID: p.JobID, Rank: p.Rank, WorldSize: p.WorldSize,
		Self: rendezvous.Self(p.Listen), Host0: p.AtRank0, Version: c.Version, StartTimeout: c.StartTimeout,
	}
}

// hub is the one port of a worker and what is served there.
type hub struct {
	port   *port.Port
	grpc   *grpc.Server
	served chan struct{}
	links  *grpclink.Acceptor
	server *rendezvous.Server // nil where the rendezvous is elsewhere
}

func open(p Place, c MeetConfig) (*hub, error) {
	notice, err := CheckListen(p.Listen, c.Token, c.Insecure)
	if err != nil {
		return nil, err
	}
	if notice != "" && c.Notice != nil {
		c.Notice(notice)
	}
	listener, err := port.Listen(p.Listen)
	if err != nil {
		return nil, err
	}
	h := &hub{port: listener, grpc: grpc.NewServer(grpclink.ServerOptions()...), served: make(chan struct{})}
	h.links = grpclink.Register(h.grpc)
	if p.Serve {
		h.server = rendezvous.NewServer(rendezvous.ServerConfig{
			JobID: p.JobID, WorldSize: p.WorldSize, Token: c.Token, StartTimeout: c.StartTimeout, Listed: p.Listed,
		})
		h.server.Register(h.grpc)
	}
	go func() {
		defer close(h.served)
		h.grpc.Serve(listener.GRPC()) // ends when the port is closed
	}()
	return h, nil
}

func (h *hub) options(p Place, c MeetConfig) rendezvous.Options {
	o := reportOptions(p, c)
	o.Self = rendezvous.Self(h.port.Addr())
	if p.Rank >= 0 && p.Rank < len(p.Listed) {
		o.Self.Addr = p.Listed[p.Rank] // what the others know it by
	}
	o.Agree, o.Waiting = c.Agree, c.Waiting
	return o
}

// link opens the link that the job asks for. Payloads are checked between
// hosts; within one the kernel copies them from memory to memory.
func (h *hub) link(ctx context.Context, m ring.Membership, c MeetConfig) (ring.Link, error) {
	if linkName(c.Link) == "grpc" {
		l, err := grpclink.Open(ctx, m, h.links, grpclink.Config{Token: c.Token})
		if err != nil {
			return nil, fmt.Errorf("link grpc: %w", err)
		}
		return l, nil
	}
	return tcplink.Open(ctx, m, h.port.Links(), tcplink.Config{Token: c.Token, PayloadCRC: m.Hosts() > 1})
}

func (h *hub) close() {
	if h.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), drainTime)
		h.server.Drain(ctx)
		cancel()
		h.server.Close()
	}
	h.grpc.Stop()
	h.port.Close()
	<-h.served
}
