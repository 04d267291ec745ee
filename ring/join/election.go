package join

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/rendezvous/journal"
	pb "ringtrain/ring/ringpb"
)

// Election lets the workers of a job agree on which of them serves the rendezvous.
// Package ring/rendezvous/etcd has one.
type Election interface {
	// Find returns where the rendezvous is served, "" if nobody does.
	Find(ctx context.Context) (addr string, err error)
	// Win makes this worker the one that serves it, at addr, if there is none:
	// until the journal is closed, or lost is. The journal is nil if another was
	// faster. A worker is fresh as long as it was in no generation; such a one must
	// not win while a member of the job's last generation answers.
	Campaign(ctx context.Context, addr string, fresh bool) (j journal.Journal, lost <-chan struct{}, err error)
	// Close releases what the election needs.
	Close() error
}

var errNoElection = exitcode.With(exitcode.Usage, errors.New("this command meets at HOST:PORT only, not on etcd"))

// elected is the part of a hub in which the rendezvous comes and goes. Only the
// worker's session looks for the rendezvous, and only when it has none: so a worker
// seeks the office when there is nobody else to turn to.
type electedServer struct {
	pb.UnimplementedRendezvousServer
	election        Election
	config          rendezvous.ServerConfig // but for the journal
	addr            string                  // where this worker would serve
	notice          func(string)
	service         atomic.Pointer[pb.RendezvousServer] // what is served; nil: nothing
	firstMembership atomic.Pointer[ring.Membership]     // of the first generation that this worker was in; nil: of none yet

	mu     sync.Mutex // guards what follows
	server *rendezvous.Server

	closing   chan struct{} // closed by close
	closeOnce sync.Once
	wg        sync.WaitGroup
}

// Meet hands a worker on to the rendezvous, if it is here.
func (e *electedServer) Meet(s grpc.BidiStreamingServer[pb.WorkerMessage, pb.RendezvousMessage]) error {
	if r := e.service.Load(); r != nil {
		return (*r).Meet(s)
	}
	return e.UnimplementedRendezvousServer.Meet(s)
}

// Status answers who looks on in the same way. Where the rendezvous is not here it tells
// whether this worker is in a generation.
func (e *electedServer) Status(s grpc.BidiStreamingServer[pb.StatusRequest, pb.StatusReply]) error {
	if r := e.service.Load(); r != nil {
		return (*r).Status(s)
	}
	return rendezvous.Member{Token: e.config.Token, Membership: e.membership}.Status(s)
}

func (e *electedServer) membership() ring.Membership {
	if m := e.firstMembership.Load(); m != nil {
		return *m
	}
	return ring.Membership{JobID: e.config.JobID, Rank: -1}
}

// RegisterService takes the service of a rendezvous.Server, which grpc's own server
// would take at its start only.
func (e *electedServer) RegisterService(_ *grpc.ServiceDesc, service any) {
	r := service.(pb.RendezvousServer)
	e.service.Store(&r)
}

// find returns where the rendezvous is. If nobody serves it, this worker does.
func (e *electedServer) find(ctx context.Context) (string, error) {
	addr, err := e.election.Find(ctx)
	if addr != "" || err != nil {
		return addr, err
	}
	if err := e.campaign(ctx); err != nil {
		return "", err
	}
	return findServed(ctx, e.election)
}

// findServed is Find for one that can only go where somebody is.
func findServed(ctx context.Context, election Election) (string, error) {
	addr, err := election.Find(ctx)
	if addr == "" && err == nil {
		err = errors.New("nobody serves the rendezvous now")
	}
	return addr, err
}

func (e *electedServer) campaign(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.server != nil {
		return errors.New("the rendezvous changes hands")
	}
	journal, lost, err := e.election.Campaign(ctx, e.addr, e.firstMembership.Load() == nil)
	if journal == nil {
		return err
	}
	c := e.config
	c.Journal = journal
	e.server = rendezvous.NewServer(c)
	e.server.Register(e)
	if e.firstMembership.Load() != nil && e.notice != nil {
		e.notice("this worker serves the rendezvous now")
	}
	server := e.server
	e.wg.Go(func() {
		select {
		case <-lost:
		case <-e.closing:
		}
		e.service.Store(nil)
		server.Close()
		e.mu.Lock()
		e.server = nil
		e.mu.Unlock()
	})
	return nil
}

// serving is the rendezvous that is here, nil if it is not.
func (e *electedServer) serving() *rendezvous.Server {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.server
}

// closeTime bounds how long the end of the service may take. A journal that is away
// would hold up a worker whose work is done; its office ends with its lease.
const electedCloseTimeout = 5 * time.Second

// close ends the service. The worker's session must have ended before. It is false,
// and people are told, if that takes longer than it may: what is left goes on by
// itself then.
func (e *electedServer) close() bool {
	e.closeOnce.Do(func() { close(e.closing) })
	done := make(chan struct{})
	go func() {
		e.wg.Wait()
		close(done)
	}()
	limit := time.NewTimer(electedCloseTimeout)
	defer limit.Stop()
	select {
	case <-done:
		return true
	case <-limit.C:
	}
	if e.notice != nil {
		e.notice(fmt.Sprintf("the rendezvous that this worker served has not ended in %v: its journal does not answer; not waiting for it", electedCloseTimeout))
	}
	return false
}

// elect lets the rendezvous come here.
func (h *endpoint) registerElection(d listenConfig, p place.Place, c Config, s rendezvous.ServerConfig) {
	s.Token, s.Notice, s.NoticeSink = d.token, d.notify, rendezvous.NoticeRank0
	s.WorkerRefused = refusalNotices(d, nil)
	h.elected = &electedServer{
		election: c.Election, config: s, addr: p.KnownAs(h.port.Addr()), notice: d.notice, closing: make(chan struct{}),
	}
	pb.RegisterRendezvousServer(h.grpc, h.elected)
}
