package join

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/link/shmlink"
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/ringtest"
)

// memoryCrew is a crew that exchanges data in the memory of its host.
func memoryCrew(t *testing.T, size int) *crew {
	t.Helper()
	c, _ := aloneCrew(t, size)
	c.config.Levels, c.config.Link = "auto", "shm"
	return c
}

// bare joins a rank to the rendezvous, and to nothing else. Somebody listens at its port, so that a slow beat on a busy
// machine is no loss, and never answers.
func (c *crew) bare(t *testing.T, rank int) *rendezvous.Session {
	t.Helper()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	s, err := rendezvous.Join(t.Context(), joinOptions(c.places[rank], c.config, selfAt(c.places[rank], silent.Addr().String())))
	if err != nil {
		t.Fatalf("rank %d: %v", rank, err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// remember opens a worker's memory.
func (c *crew) remember(t *testing.T, m ring.Membership) ring.Memory {
	t.Helper()
	p, err := port.Listen("127.0.0.1:0", c.config.Token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	memory, err := shmlink.Open(t.Context(), m, shmlink.Config{Token: c.config.Token, Port: p})
	if err != nil {
		t.Fatalf("rank %d: %v", m.Rank, err)
	}
	t.Cleanup(func() { memory.Close() })
	return memory
}

// TestMeetInMemory verifies that workers of one host exchange data through memory, and
// leave none of it behind.
func TestMeetInMemory(t *testing.T) {
	noLeak(t)
	c := memoryCrew(t, 3)
	onAll(t, c.meetAll(t), func(i int, team *Team) error { return c.live(i, team) })
}

// TestMateMissing verifies that workers name the worker of their host that did not come,
// not its leader.
func TestMateMissing(t *testing.T) {
	noLeak(t)
	var started []func() []met
	for missing := range 3 { // in parallel: the cases mostly wait
		c := memoryCrew(t, 3)
		c.config.StartTimeout = time.Second // shorter than that of the rendezvous
		started = append(started, c.meet(t.Context(), t, (missing+1)%3, (missing+2)%3))
		c.bare(t, missing)
	}
	words := []string{"does not take this worker in", "has not come for the memory", "has not come for the memory"}
	for missing, others := range started {
		endsWith(t, others(), exitcode.Retry, missing, words[missing], "gave up after 1s")
	}
}

// TestMateEnds verifies that workers name the worker of their host that has ended during
// the start.
func TestMateEnds(t *testing.T) {
	noLeak(t)
	var started []func() []met
	for ends := range 2 {
		c := memoryCrew(t, 3)
		started = append(started, c.meet(t.Context(), t, 1-ends, 2))
		c.remember(t, c.bare(t, ends).Membership()).Close()
	}
	for ends, others := range started {
		endsWith(t, others(), exitcode.Retry, ends, "it has left")
	}
}

// TestMeetStoppedInMemory verifies that the stop of either of two workers ends both with its
// code.
func TestMeetStoppedInMemory(t *testing.T) {
	noLeak(t)
	for rank := range 2 {
		t.Run(fmt.Sprintf("rank=%d", rank), func(t *testing.T) { testStoppedInMemory(t, rank) })
	}
}

// If this failed, a worker that is stopped while it waits for one of its host
// would go on waiting, would lose its exit code, or would blame that one.
func testStoppedInMemory(t *testing.T, stopped int) {
	c := memoryCrew(t, 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	one := c.meet(ctx, t, stopped)
	mate := c.bare(t, 1-stopped)
	c.remember(t, mate.Membership()) // the other worker has the membership too, and waits for the first arena
	cancel(errStopped)
	<-mate.Context().Done()
	both := append(one(), met{rank: 1 - stopped, err: context.Cause(mate.Context())})
	endsWith(t, both, exitcode.Terminated, stopped, "stopped by a signal")
}

// TestOpenStopped verifies that a worker that is stopped while it opens shared memory has
// its own exit code and blames no rank.
func TestOpenStopped(t *testing.T) {
	noLeak(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStopped)
	for rank := range 2 {
		team := teamOf(ctx, hostsOf("aa", rank), Config{Group: ring.DefaultConfig()})
		if err := team.listen(place.Place{Listen: "127.0.0.1:0"}); err != nil {
			t.Fatal(err)
		}
		cause := team.causeOf(ctx, team.open(ctx))
		team.Close()
		endsWith(t, []met{{rank: rank, err: cause.WithCode()}}, exitcode.Terminated, rank, "stopped by a signal")
	}
}

// TestMemoryOutlastsLinks verifies that a worker keeps its shared memory until it has told
// the fault of its links.
func TestMemoryOutlastsLinks(t *testing.T) {
	noLeak(t)
	c := newCrew("", 3)
	c.config.Levels = "auto"
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	team := teamOf(ctx, hostsOf("aab", 0), c.config)
	defer team.Close()
	if err := team.listen(place.Place{Listen: "127.0.0.1:0"}); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	away := ringtest.RefusedAddress(t)
	members := func(rank int) ring.Membership {
		m := hostsOf("aab", rank)
		for r := range m.Workers {
			m.Workers[r].Addr = away
		}
		return m
	}
	go func() {
		_, err := team.openTransport(ctx, members(0), c.config)
		failed <- err
	}()
	memory := c.remember(t, members(1))
	cancel(errStopped) // ends the opening of links to unreachable workers
	if err := <-failed; !errors.Is(err, errStopped) {
		t.Fatalf("error %v, want the context's", err)
	}
	synced := make(chan error, 1)
	go func() { synced <- memory.Sync(t.Context()) }()
	if err := errors.Join(team.memory.Sync(t.Context()), <-synced); err != nil {
		t.Errorf("the memory has ended with the links: %v", err)
	}
}
