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

// Election lets the workers of a job agree on the one that serves the rendezvous. Package
// ring/rendezvous/etcd implements it.
type Election interface {
	// Find returns the address of the rendezvous, "" if no worker serves it.
	Find(ctx context.Context) (addr string, err error)
	// Campaign makes this worker the leader, which serves the rendezvous at addr, if
	// there is no leader. It leads until the journal or lost is closed. The journal is
	// nil if another worker has won. A worker is fresh until it is in a generation. A
	// fresh worker must not win while a member of the job's last generation answers.
	Campaign(ctx context.Context, addr string, fresh bool) (j journal.Journal, lost <-chan struct{}, err error)
	// Close releases what the election needs.
	Close() error
}

var errNoElection = exitcode.With(exitcode.Usage, errors.New("this command meets at HOST:PORT only, not on etcd"))

// electedServer serves the rendezvous on an endpoint while this worker leads. A worker
// campaigns for leadership only after its session has lost the rendezvous and no other
// worker serves it.
type electedServer struct {
	pb.UnimplementedRendezvousServer
	election        Election
	config          rendezvous.ServerConfig // without the journal
	addr            string                  // address at which this worker would serve
	notice          func(string)
	service         atomic.Pointer[pb.RendezvousServer] // the rendezvous here; nil: none
	firstMembership atomic.Pointer[ring.Membership]     // of this worker's first generation; nil: none yet

	mu     sync.Mutex // guards what follows
	server *rendezvous.Server

	closing   chan struct{} // closed by close
	closeOnce sync.Once
	wg        sync.WaitGroup
}

// Meet passes a worker on to the rendezvous, if it is here.
func (e *electedServer) Meet(s grpc.BidiStreamingServer[pb.WorkerMessage, pb.RendezvousMessage]) error {
	if r := e.service.Load(); r != nil {
		return (*r).Meet(s)
	}
	return e.UnimplementedRendezvousServer.Meet(s)
}

// Status passes a status client on to the rendezvous, if it is here. Otherwise it answers
// whether this worker is in a generation.
func (e *electedServer) Status(s grpc.BidiStreamingServer[pb.StatusRequest, pb.StatusReply]) error {
	if r := e.service.Load(); r != nil {
		return (*r).Status(s)
	}
	return rendezvous.Member{Token: e.config.Token, Membership: e.membership}.Status(s)
}

// membership returns what Status tells of this worker.
func (e *electedServer) membership() ring.Membership {
	if m := e.firstMembership.Load(); m != nil {
		return *m
	}
	return ring.Membership{JobID: e.config.JobID, Rank: -1}
}

// RegisterService accepts the service of a rendezvous.Server. grpc's own server accepts
// services only before it starts.
func (e *electedServer) RegisterService(_ *grpc.ServiceDesc, service any) {
	r := service.(pb.RendezvousServer)
	e.service.Store(&r)
}

// find returns the address of the rendezvous. If no worker serves it, this worker
// campaigns.
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

// findServed returns the address of the rendezvous for a worker that cannot serve it.
func findServed(ctx context.Context, election Election) (string, error) {
	addr, err := election.Find(ctx)
	if addr == "" && err == nil {
		err = errors.New("no worker serves the rendezvous now")
	}
	return addr, err
}

// campaign has this worker serve the rendezvous, if it wins the election.
func (e *electedServer) campaign(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.server != nil {
		return errors.New("the rendezvous is moving to another worker")
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

// serving returns the rendezvous that is here, or nil.
func (e *electedServer) serving() *rendezvous.Server {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.server
}

// electedCloseTimeout bounds the end of the service. A journal that does not answer would
// delay a worker whose work is done; the leadership ends with its lease.
const electedCloseTimeout = 5 * time.Second

// close ends the service. The worker's session must have ended before. If the end takes
// longer than electedCloseTimeout, close tells people and returns false, and the rest ends
// in the background.
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

// registerElection prepares h to serve the rendezvous if this worker is elected.
func (h *endpoint) registerElection(d listenConfig, p place.Place, c Config, s rendezvous.ServerConfig) {
	s.Token, s.Notice, s.NoticeSink = d.token, d.notify, rendezvous.NoticeRank0
	s.WorkerRefused = refusalNotices(d, nil)
	h.elected = &electedServer{
		election: c.Election, config: s, addr: p.KnownAs(h.port.Addr()), notice: d.notice, closing: make(chan struct{}),
	}
	pb.RegisterRendezvousServer(h.grpc, h.elected)
}
