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

// office is an Election without etcd: one coordinator at a time, and one journal.
type office struct {
	mu      sync.Mutex
	addr    string
	records []state.Record
	holder  *tenure
	wins    chan string // addresses
}

// tenure is the time of one coordinator.
type tenure struct {
	o    *office
	lost chan struct{}
	kept []state.Record
}

func (o *office) Find(context.Context) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.addr, nil
}

func (o *office) Campaign(_ context.Context, addr string, _ bool) (journal.Journal, <-chan struct{}, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.addr != "" {
		return nil, nil, nil
	}
	o.addr, o.holder = addr, &tenure{o: o, lost: make(chan struct{}), kept: o.records}
	o.wins <- addr
	return o.holder, o.holder.lost, nil
}

func (o *office) Close() error { return nil }

// depose ends the tenure of the coordinator, as the end of its lease does.
func (o *office) depose() {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.holder.lost)
	o.addr, o.holder = "", nil
}

func (t *tenure) Records() []state.Record { return t.kept }

func (t *tenure) Append(r state.Record) error {
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	if t.o.holder != t {
		return journal.ErrSuperseded
	}
	t.o.records = append(t.o.records, r)
	return nil
}

func (t *tenure) Close() error {
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	if t.o.holder == t {
		t.o.addr, t.o.holder = "", nil
	}
	return nil
}

// electedCrew is a crew of which nobody serves from the start.
func electedCrew(size int) (*crew, *office) {
	c, o := newCrew("etcd://127.0.0.1:1/x", size), &office{wins: make(chan string, 10)}
	c.config.Election, c.config.Restarts, c.config.Lease, c.config.Link = o, 1, time.Second, "tcp"
	for i := range c.places {
		c.places[i].JobID = "j"
	}
	return c, o
}

// coordinator waits until there is a new one and returns its rank.
func (o *office) coordinator(teams []*Team) int {
	addr := <-o.wins
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
	teams = c.replace(t.Context(), t, teams, victim)
	o.coordinator(teams)
	onAll(t, teams, func(rank int, team *Team) error {
		if m := team.Group.Membership(); m.Generation != 2 || !slices.Equal(team.Lost, []int{victim}) {
			t.Errorf("rank %d: generation %d after the loss of %v, want 2 after that of %d", rank, m.Generation, team.Lost, victim)
		}
		return sum(team)
	})
	onAll(t, teams, func(_ int, team *Team) error { return team.Leave(t.Context()) })
}

// TestDeposed verifies that workers continue when a coordinator loses its leadership, as by a
// pause: the next one knows the generation.
func TestDeposed(t *testing.T) {
	noLeak(t)
	c, o := electedCrew(3)
	teams := c.meetAll(t)
	for range 3 {
		o.coordinator(teams)
		onAll(t, teams, func(_ int, team *Team) error { return sum(team) })
		o.depose()
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
	*office
	back chan struct{}
}

func (s stuck) Campaign(ctx context.Context, addr string, fresh bool) (journal.Journal, <-chan struct{}, error) {
	_, lost, err := s.office.Campaign(ctx, addr, fresh)
	return stuckTenure{s.holder, s.back}, lost, err
}

type stuckTenure struct {
	*tenure
	back chan struct{}
}

func (s stuckTenure) Close() error {
	<-s.back
	return s.tenure.Close()
}

// TestElectedCloseIsBounded makes the journal unavailable when a worker that serves the
// rendezvous ends. It verifies that Close ends in bounded time and reports the reason of the
// delay.
func TestElectedCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stuck{&office{wins: make(chan string, 1)}, make(chan struct{})}
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
