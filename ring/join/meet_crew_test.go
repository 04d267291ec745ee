package join

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ringtrain/ring"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// crew is a job for tests: the places of its ranks, and what all of them bring.
type crew struct {
	places []place.Place
	config Config
}

// newCrew makes a job of size ranks that meet at addr.
func newCrew(addr string, size int) *crew {
	c := &crew{config: Config{
		Token: token.New(), Version: "v1", Agree: []string{"seed=1"}, StartTimeout: 30 * time.Second, Group: ring.DefaultConfig(),
		Levels: "flat",
	}}
	for rank := range size {
		c.places = append(c.places, place.Place{Rank: rank, WorldSize: size, Rendezvous: addr, Listen: "127.0.0.1:0"})
	}
	return c
}

// noLeak fails t if a goroutine is left at its end, when its subtests, which may
// run at the same time, have ended too.
func noLeak(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// teamOf returns a team of m without a rendezvous and without links.
func teamOf(ctx context.Context, m ring.Membership, c Config) *Team {
	t := &Team{config: c, session: newSoloSession(ctx)}
	t.begin(m)
	return t
}

// aloneCrew meets at a rendezvous of its own, as under ringtrain run.
func aloneCrew(t *testing.T, size int) (*crew, *rendezvous.Server) {
	t.Helper()
	c := newCrew("", size)
	a := serveAlone(t, c, 0)
	return c, a
}

// serveAlone serves the rendezvous of c, which replaces lost ranks if there are restarts.
func serveAlone(t *testing.T, c *crew, restarts int) *rendezvous.Server {
	t.Helper()
	a, err := Serve("127.0.0.1:0", c.config.Insecure, rendezvous.ServerConfig{
		WorldSize: len(c.places), Token: c.config.Token, StartTimeout: c.config.StartTimeout, Restarts: restarts,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	for i := range c.places {
		c.places[i].Rendezvous = a.Addr()
	}
	return a
}

// servedCrew meets at rank 0, as under MASTER_ADDR and MASTER_PORT.
func servedCrew(t *testing.T, size int) *crew {
	t.Helper()
	c := newCrew(freeAddrs(t, 1)[0], size)
	for i := range c.places {
		c.places[i].AtRank0 = true
	}
	c.places[0].Serve, c.places[0].Listen = true, c.places[0].Rendezvous
	return c
}

// listedCrew meets at rank 0, all addresses being configured, as by TF_CONFIG.
// They are names: a worker that looks at its socket would not find them.
func listedCrew(t *testing.T, size int) *crew {
	t.Helper()
	var listed []string
	for _, addr := range freeAddrs(t, size) {
		listed = append(listed, strings.Replace(addr, "127.0.0.1", "localhost", 1))
	}
	c := newCrew(listed[0], size)
	for i := range c.places {
		p := &c.places[i]
		p.AtRank0, p.Serve, p.Listed = true, i == 0, listed
		p.Listen = strings.Replace(listed[i], "localhost", "127.0.0.1", 1)
	}
	return c
}

// freeAddrs returns n addresses at which nobody listens. Their ports lie below
// those that systems give out, so that hardly anybody takes them meanwhile.
func freeAddrs(t *testing.T, n int) []string {
	t.Helper()
	var addrs []string
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 11000+rand.N(9000)))
		if err != nil {
			continue
		}
		defer l.Close() // not earlier: the next port must be another one
		if addrs = append(addrs, l.Addr().String()); len(addrs) == n {
			return addrs
		}
	}
	t.Fatal("no free port from 11000 to 20000")
	return nil
}

// met is what became of one rank's Meet.
type met struct {
	rank int
	team *Team
	err  error
	took time.Duration
}

// cause returns the *ring.Cause of a rank that did not make it.
func (m met) cause(t *testing.T) *ring.Cause {
	t.Helper()
	c, ok := errors.AsType[*ring.Cause](m.err)
	if !ok {
		t.Fatalf("rank %d: error %v, want one with a *ring.Cause", m.rank, m.err)
	}
	return c
}

// meet starts the given ranks and returns how to wait for them. Teams are closed with the
// test.
func (c *crew) meet(ctx context.Context, t *testing.T, ranks ...int) func() []met {
	t.Helper()
	results := make([]met, len(ranks))
	var wg sync.WaitGroup
	for i, rank := range ranks {
		wg.Go(func() {
			start := time.Now()
			team, err := Meet(ctx, c.places[rank], c.config)
			results[i] = met{rank, team, err, time.Since(start)}
		})
	}
	wait := func() []met {
		wg.Wait()
		return results
	}
	t.Cleanup(func() { closeAll(wait()) })
	return wait
}

func (c *crew) ranks() []int {
	var ranks []int
	for rank := range c.places {
		ranks = append(ranks, rank)
	}
	return ranks
}

// meetAll makes the teams of all ranks.
func (c *crew) meetAll(t *testing.T) []*Team {
	t.Helper()
	var teams []*Team
	for _, m := range c.meet(t.Context(), t, c.ranks()...)() {
		if m.err != nil {
			t.Fatalf("rank %d: %v", m.rank, m.err)
		}
		teams = append(teams, m.team)
	}
	return teams
}

func closeAll(all []met) {
	var wg sync.WaitGroup
	for _, m := range all {
		if m.team != nil {
			wg.Go(func() { m.team.Close() })
		}
	}
	wg.Wait()
}

// onAll runs f on all teams at once.
func onAll(t *testing.T, teams []*Team, f func(rank int, team *Team) error) {
	t.Helper()
	var wg sync.WaitGroup
	for rank, team := range teams {
		wg.Go(func() {
			if err := f(rank, team); err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		})
	}
	wg.Wait()
}

// sluice is a way to a server that can hold back what the server says.
type sluice struct {
	lis  net.Listener
	to   string
	shut sync.Mutex // while it is locked, no message passes
	wg   sync.WaitGroup
}

func newSluice(t *testing.T, to string) *sluice {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &sluice{lis: lis, to: to}
	s.wg.Go(s.accept)
	t.Cleanup(func() {
		lis.Close()
		s.wg.Wait()
	})
	return s
}

func (s *sluice) addr() string { return s.lis.Addr().String() }

func (s *sluice) accept() {
	for {
		client, err := s.lis.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", s.to)
		if err != nil {
			client.Close()
			continue
		}
		s.wg.Go(func() {
			defer server.Close()
			io.Copy(server, client)
		})
		s.wg.Go(func() {
			defer client.Close()
			io.Copy(writer(func(p []byte) (int, error) {
				s.shut.Lock()
				defer s.shut.Unlock()
				return client.Write(p)
			}), server)
		})
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
