package join

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
)

// recoveringCrew meets at a rendezvous of its own that replaces lost ranks.
func recoveringCrew(t *testing.T, size, restarts int) *crew {
	t.Helper()
	c := newCrew("", size)
	serveAlone(t, c, restarts)
	return c
}

// sum checks that the group works: it adds what the ranks have.
func sum(team *Team) error {
	g := team.Group
	buf := make([]float32, 1000)
	for i := range buf {
		buf[i] = float32(g.Membership().Rank + 1)
	}
	if err := g.AllReduce(team.Context(), ring.Reduction{Buf: buf}); err != nil {
		return err
	}
	if p := g.Membership().Size(); buf[999] != float32(p*(p+1)/2) {
		return fmt.Errorf("the sum is %v", buf[999])
	}
	return nil
}

// TestNext kills ranks of three one after the other, over links and in memory, and starts
// successors. It verifies that the living ranks open links again, together with the successor,
// and that no port and no goroutine leaks.
func TestNext(t *testing.T) {
	noLeak(t)
	for _, tt := range []struct{ link, levels string }{{"tcp", "flat"}, {"auto", "auto"}} {
		t.Run(fmt.Sprintf("link=%s/levels=%s", tt.link, tt.levels), func(t *testing.T) {
			t.Parallel()
			c := recoveringCrew(t, 3, 2)
			c.config.Link, c.config.Levels = tt.link, tt.levels
			teams := c.meetAll(t)
			for generation, victim := range []int{2, 0} {
				onAll(t, teams, func(_ int, team *Team) error { return sum(team) })
				addr := teams[1].port.Addr()
				teams = c.replace(t, teams, victim, func() (*Team, error) { return Meet(t.Context(), c.places[victim], c.config) })
				for rank, team := range teams {
					m := team.Group.Membership()
					if m.Generation != uint64(generation+2) || !slices.Equal(team.Lost, []int{victim}) || team.Cause == nil || m.Rank != rank {
						t.Errorf("rank %d: generation %d after the loss of %v by %v", rank, m.Generation, team.Lost, team.Cause)
					}
				}
				if got := teams[1].port.Addr(); got != addr {
					t.Errorf("rank 1 listens at %s, before at %s", got, addr)
				}
			}
			onAll(t, teams, func(_ int, team *Team) error { return sum(team) })
			onAll(t, teams, func(_ int, team *Team) error { return team.Leave(t.Context()) })
		})
	}
}

// TestNextStopped signals a successor that has its membership and that the others no longer wait
// for. It verifies that their generation continues, with their state.
func TestNextStopped(t *testing.T) {
	noLeak(t)
	c := recoveringCrew(t, 3, 1)
	for rank := range c.places {
		c.places[rank].HostID = fmt.Sprint(rank)
	}
	teams := c.replace(t, c.meetAll(t), 1, func() (*Team, error) {
		ctx, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		team, err := Gather(ctx, c.places[1], c.config)
		if err != nil {
			return nil, err
		}
		stop(errStopped)
		return team.form(ctx)
	})
	onAll(t, teams, func(_ int, team *Team) error { return sum(team) })
	onAll(t, teams, func(_ int, team *Team) error { return team.Leave(t.Context()) })
}

// replace ends the team of one rank, and returns those of the next generation, in which its successor
// is that of meet.
func (c *crew) replace(t *testing.T, teams []*Team, victim int, meet func() (*Team, error)) []*Team {
	t.Helper()
	next := make([]*Team, len(teams))
	var wg sync.WaitGroup
	for rank, team := range teams {
		if rank == victim {
			continue
		}
		wg.Go(func() {
			var cause *ring.Cause
			for cause == nil {
				if err := sum(team); err != nil {
					cause = ring.CauseOf(err, rank, "h", 5)
				}
			}
			n, err := team.Next(t.Context(), cause)
			if err != nil {
				t.Errorf("rank %d: %v", rank, err)
				return
			}
			next[rank] = n
			t.Cleanup(func() { n.Close() })
		})
	}
	teams[victim].Close()
	<-teams[(victim+1)%len(teams)].Context().Done() // the victim's rank is free
	fresh, err := meet()
	wg.Wait()
	if err != nil || t.Failed() {
		t.Fatalf("successor of rank %d: %v", victim, err)
	}
	next[victim] = fresh
	t.Cleanup(func() { fresh.Close() })
	return next
}

// TestNextIsOver verifies that Next without a restart left returns the job's first cause, and
// that the team can be closed afterwards.
func TestNextIsOver(t *testing.T) {
	noLeak(t)
	c := recoveringCrew(t, 3, 0)
	teams := c.meetAll(t)
	teams[2].Close()
	onAll(t, teams[:2], func(rank int, team *Team) error {
		<-team.Context().Done()
		next, err := team.Next(t.Context(), nil)
		if cause, ok := errors.AsType[*ring.Cause](err); next != nil || !ok || cause.Rank != 2 || exitcode.Of(err) != exitcode.Retry {
			return fmt.Errorf("error %w with code %d, want the loss of rank 2 with 138", err, exitcode.Of(err))
		}
		return nil
	})
}

// TestNextAlone verifies that a team of one has no next generation.
func TestNextAlone(t *testing.T) {
	noLeak(t)
	team, err := Meet(t.Context(), place.Place{WorldSize: 1}, newCrew("", 1).config)
	if err != nil {
		t.Fatal(err)
	}
	defer team.Close()
	team.RequestLeave(exitcode.Terminated)
	if team.Stopping() != exitcode.Terminated || team.Leaving() {
		t.Errorf("stop %d, leaving %t, want 143 and not alone", team.Stopping(), team.Leaving())
	}
	mine := &ring.Cause{Text: "mine", ExitCode: exitcode.BadData}
	if _, err := team.Next(t.Context(), mine); exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v with code %d, want 65", err, exitcode.Of(err))
	}
}

// TestSuccessorDies kills a successor before the links of its generation are open. It verifies
// that the others continue with the next successor.
func TestSuccessorDies(t *testing.T) {
	noLeak(t)
	c := recoveringCrew(t, 3, 4)
	teams := c.meetAll(t)
	next := make(chan *Team, 2)
	for _, team := range teams[:2] {
		go func() {
			<-team.Context().Done()
			n, err := team.Next(t.Context(), nil)
			if err != nil {
				t.Error(err)
			}
			next <- n
		}()
	}
	teams[2].Close()
	<-teams[0].Context().Done()
	fresh, err := Gather(t.Context(), c.places[2], c.config)
	if err != nil {
		t.Fatal(err)
	}
	fresh.Close()
	teams[2] = c.meet(t.Context(), t, 2)()[0].team
	for range 2 {
		select {
		case n := <-next:
			if n == nil || n.Group.Membership().Generation != 3 {
				t.Fatalf("team %+v, want one of generation 3", n)
			}
			teams[n.Group.Membership().Rank] = n
			t.Cleanup(func() { n.Close() })
		case <-time.After(20 * time.Second):
			t.Fatal("nothing for 20 s")
		}
	}
	onAll(t, teams, func(_ int, team *Team) error { return sum(team) })
	onAll(t, teams, func(_ int, team *Team) error { return team.Leave(t.Context()) })
}
