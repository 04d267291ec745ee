package join

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/rendezvous/journal"
	"ringtrain/ring/rendezvous/state"
)

// memElection is an Election without etcd: one coordinator at a time, and one journal.
type memElection struct {
	mu      sync.Mutex
	addr    string
	records []state.Record
	leader  *memLeadership
	elected chan string // addresses of the elected
}

// memLeadership is the leadership of one coordinator.
type memLeadership struct {
	o    *memElection
	lost chan struct{}
	kept []state.Record
}

func (o *memElection) Find(context.Context) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.addr, nil
}

func (o *memElection) Campaign(_ context.Context, addr string, _ bool) (journal.Journal, <-chan struct{}, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.addr != "" {
		return nil, nil, nil
	}
	o.addr, o.leader = addr, &memLeadership{o: o, lost: make(chan struct{}), kept: o.records}
	o.elected <- addr
	return o.leader, o.leader.lost, nil
}

func (o *memElection) Close() error { return nil }

// endLeadership ends the leadership of the coordinator, as the end of its lease does.
func (o *memElection) endLeadership() {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.leader.lost)
	o.addr, o.leader = "", nil
}

func (t *memLeadership) Records() []state.Record { return t.kept }

func (t *memLeadership) Append(r state.Record) error {
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	if t.o.leader != t {
		return journal.ErrSuperseded
	}
	t.o.records = append(t.o.records, r)
	return nil
}

func (t *memLeadership) Close() error {
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	if t.o.leader == t {
		t.o.addr, t.o.leader = "", nil
	}
	return nil
}

// electedCrew returns a crew in which no worker serves the rendezvous at first.
func electedCrew(size int) (*crew, *memElection) {
	c, o := newCrew("etcd://127.0.0.1:1/x", size), &memElection{elected: make(chan string, 10)}
	c.config.Election, c.config.Restarts, c.config.Lease, c.config.Link = o, 1, time.Second, "tcp"
	for i := range c.places {
		c.places[i].JobID = "j"
	}
	return c, o
}

// coordinator waits until there is a new one and returns its rank.
func (o *memElection) coordinator(teams []*Team) int {
	addr := <-o.elected
	return slices.IndexFunc(teams, func(t *Team) bool { return t.endpoint.port.Addr() == addr })
}

// TestElected kills the worker that serves the rendezvous. It verifies that another one takes
// over, that the job continues, and that no goroutine leaks.
func TestElected(t *testing.T) {
	noLeak(t)
	c, o := electedCrew(3)
	teams := c.meetAll(t)
	victim := o.coordinator(teams)
	onAll(t, teams, func(_ int, team *Team) error { return sum(team) })
	teams = c.replace(t, teams, victim, func() (*Team, error) { return Meet(t.Context(), c.places[victim], c.config) })
	o.coordinator(teams)
	onAll(t, teams, func(rank int, team *Team) error {
		if m := team.Group.Membership(); m.Generation != 2 || !slices.Equal(team.Lost, []int{victim}) {
			t.Errorf("rank %d: generation %d after the loss of %v, want 2 after that of %d", rank, m.Generation, team.Lost, victim)
		}
		return sum(team)
	})
	onAll(t, teams, func(_ int, team *Team) error { return team.Leave(t.Context()) })
}

// TestLeadershipLost verifies that workers continue when a coordinator loses its leadership, as by
// a pause: the next one knows the generation.
func TestLeadershipLost(t *testing.T) {
	noLeak(t)
	c, o := electedCrew(3)
	teams := c.meetAll(t)
	for range 3 {
		o.coordinator(teams)
		onAll(t, teams, func(_ int, team *Team) error { return sum(team) })
		o.endLeadership()
	}
	o.coordinator(teams)
	onAll(t, teams, func(_ int, team *Team) error {
		if m := team.Group.Membership(); m.Generation != 1 || team.Context().Err() != nil {
			t.Errorf("generation %d, %v", m.Generation, context.Cause(team.Context()))
		}
		if err := sum(team); err != nil {
			return err
		}
		return team.Leave(t.Context())
	})
}

// stuck is an Election whose journal cannot be closed while etcd is away.
type stuck struct {
	*memElection
	back chan struct{}
}

func (s stuck) Campaign(ctx context.Context, addr string, fresh bool) (journal.Journal, <-chan struct{}, error) {
	_, lost, err := s.memElection.Campaign(ctx, addr, fresh)
	return stuckLeadership{s.leader, s.back}, lost, err
}

type stuckLeadership struct {
	*memLeadership
	back chan struct{}
}

func (s stuckLeadership) Close() error {
	<-s.back
	return s.memLeadership.Close()
}

// TestElectedCloseIsBounded makes the journal unavailable when a worker that serves the
// rendezvous ends. It verifies that Close ends in bounded time and reports the reason of the
// delay.
func TestElectedCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stuck{&memElection{elected: make(chan string, 1)}, make(chan struct{})}
		var notices []string
		e := &electedServer{
			election: s, addr: "127.0.0.1:1", notice: func(text string) { notices = append(notices, text) }, closing: make(chan struct{}),
			config: rendezvous.ServerConfig{WorldSize: 2},
		}
		if err := e.campaign(t.Context()); err != nil || e.serving() == nil {
			t.Fatalf("seek: %v, serving %v", err, e.serving())
		}
		began := time.Now()
		if e.close() || time.Since(began) != electedCloseTimeout || len(notices) != 1 || !strings.Contains(notices[0], "its journal does not answer") {
			t.Errorf("closed after %v with the notices %q, want to give up after %v with one", time.Since(began), notices, electedCloseTimeout)
		}
		close(s.back)
		if !e.close() {
			t.Error("the journal is back, and it does not end")
		}
	})
}

// TestNoElection verifies that a command that cannot meet on etcd does not wait for a host of
// that name.
func TestNoElection(t *testing.T) {
	c, _ := electedCrew(2)
	c.config.Election = nil
	if _, err := Meet(t.Context(), c.places[0], c.config); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "not on etcd") {
		t.Errorf("error %v with code %d, want exitcode.Usage", err, exitcode.Of(err))
	}
}
