package join

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/token"
)

// prompt is what nobody takes who has something to tell or has been told, however
// busy the machine is. Who waits in vain does so for a start timeout, which is 30 s
// where a test does not set it.
const prompt = 10 * time.Second

// endsWith checks that every rank ended with the code, promptly, and that its
// cause blames rank and holds all words.
func endsWith(t *testing.T, all []met, code, rank int, words ...string) {
	t.Helper()
	for _, m := range all {
		c := m.cause(t)
		if exitcode.Of(m.err) != code || c.ExitCode != code || c.Rank != rank {
			t.Errorf("rank %d ends with %d and blames rank %d, want %d and rank %d: %v", m.rank, exitcode.Of(m.err), c.Rank, code, rank, m.err)
		}
		for _, w := range words {
			if !strings.Contains(m.err.Error(), w) {
				t.Errorf("rank %d: %q, want %q in it", m.rank, m.err, w)
			}
		}
		if m.took > prompt {
			t.Errorf("rank %d took %v", m.rank, m.took)
		}
	}
}

// TestReport verifies that the others learn the fault of a rank before it could join, and
// that rank 0 stays until all have been told, and no longer.
func TestReport(t *testing.T) {
	noLeak(t)
	const size = 4
	for _, at := range []string{"alone", "served"} {
		for _, faulty := range []int{0, 2} {
			for _, order := range []string{"first", "last"} {
				t.Run(fmt.Sprintf("rendezvous=%s/rank=%d/comes=%s", at, faulty, order), func(t *testing.T) {
					t.Parallel()
					var c *crew
					if at == "alone" {
						c, _ = aloneCrew(t, size)
					} else {
						c = servedCrew(t, size)
					}
					c.report(t, faulty, order == "first")
				})
			}
		}
	}
}

func (c *crew) report(t *testing.T, faulty int, first bool) {
	t.Helper()
	cause := &ring.Cause{Rank: faulty, Host: "h", Step: -1, Text: "train.gz is truncated", ExitCode: exitcode.BadData}
	others := slices.DeleteFunc([]int{0, 1, 2, 3}, func(r int) bool { return r == faulty })
	report := func() {
		start := time.Now()
		if got := Report(t.Context(), c.places[faulty], c.config, cause); got.Error() != cause.Error() {
			t.Errorf("rank %d reports and gets %v", faulty, got)
		}
		if took := time.Since(start); took > prompt {
			t.Errorf("rank %d has reported after %v", faulty, took)
		}
	}
	var all []met
	if first && !c.places[0].AtRank0 { // the rendezvous keeps the first cause, so this worker must be first
		report()
		all = c.meet(t.Context(), t, others...)()
	} else {
		var wg sync.WaitGroup
		started := func() []met { return nil }
		if !first {
			started = c.meet(t.Context(), t, others...)
		}
		wg.Go(report)
		if first {
			started = c.meet(t.Context(), t, others...)
		}
		all = started()
		wg.Wait()
	}
	endsWith(t, all, exitcode.BadData, faulty, fmt.Sprintf("rank %d on h: train.gz is truncated", faulty))
}

// TestMeetDisagrees verifies that workers with different Agree lines do not form a group,
// and that the error has both values.
func TestMeetDisagrees(t *testing.T) {
	noLeak(t)
	tests := []struct {
		name  string
		other func(*Config)
		code  int
		words []string
	}{
		{"differs=key", func(c *Config) { c.Agree = []string{"seed=2"} }, exitcode.Usage, []string{"seed is ", "2 on rank 1", "1 on rank "}},
		{"differs=version", func(c *Config) { c.Version = "v2" }, exitcode.Protocol, []string{"version is ", "v2 on rank 1", "v1 on rank "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := servedCrew(t, 3)
			other := *c
			tt.other(&other.config)
			one, two := other.meet(t.Context(), t, 1), c.meet(t.Context(), t, 0, 2)
			for _, m := range append(one(), two()...) {
				endsWith(t, []met{m}, tt.code, m.cause(t).Rank, tt.words...) // the last worker is blamed
			}
		})
	}
}

// TestMeetPortInUse verifies that the error of a port in use names the port.
func TestMeetPortInUse(t *testing.T) {
	noLeak(t)
	c, _ := aloneCrew(t, 3)
	c.places[1].Listen = occupied(t, token.New())
	words := []string{"listen " + c.places[1].Listen, "address already in use"}
	endsWith(t, c.meet(t.Context(), t, 0, 1, 2)(), exitcode.Retry, 1, words...)
}

// If this failed, the others would not name rank 0 and its address where rank 0
// cannot tell them anything, or would not be told whose port that is.
func testPortInUseAt0(t *testing.T) {
	c := servedCrew(t, 2)
	at := occupied(t, c.config.Token)
	c.places[0].Listen, c.places[0].Rendezvous, c.places[1].Rendezvous = at, at, at
	c.config.StartTimeout = 300 * time.Millisecond
	zero, one := c.meet(t.Context(), t, 0), c.meet(t.Context(), t, 1)
	endsWith(t, zero(), exitcode.Retry, 0, "listen "+at, "address already in use")
	endsWith(t, one(), exitcode.Retry, 0, "rank 0 ("+at+`) missing after 300ms: refused: is the port of rank 3 of job "older", not of a rendezvous; want 2 workers`)
}

// occupied returns an address at which another job's worker listens, with a token.
func occupied(t *testing.T, secret token.Token) string {
	t.Helper()
	older := &Team{config: Config{Token: secret}}
	if err := older.listen(place.Place{Listen: "127.0.0.1:0", JobID: "older", Rank: 3}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(older.closePort)
	return older.port.Addr()
}

// TestMeetTwice verifies that a rank that is started twice is told at once, and that its
// first process goes on.
func TestMeetTwice(t *testing.T) {
	noLeak(t)
	c := servedCrew(t, 3)
	notices := make(chan string, 8)
	c.config.Notice = func(line string) { notices <- line }
	teams := c.meetAll(t)
	twin := *c
	twin.places = slices.Clone(c.places)
	twin.places[2].Listen = teams[2].port.Addr()
	endsWith(t, twin.meet(t.Context(), t, 2)(), exitcode.Retry, 2, "address already in use", twin.places[2].Listen)
	<-notices // the notice of the refused report
	twin.places[2].Listen = "127.0.0.1:0"
	all := twin.meet(t.Context(), t, 2)()
	taken := "rank 2 is taken by pid "
	endsWith(t, all, exitcode.Retry, 2, taken, teams[2].port.Addr(), "started twice?")
	if got := <-notices; !strings.HasPrefix(got, "refused pid ") || !strings.Contains(got, taken) {
		t.Errorf("notice %q, want one of the refusal", got)
	}
	twin.places[0].Listen = "127.0.0.1:0" // rank 0 on another host also serves a rendezvous
	endsWith(t, twin.meet(t.Context(), t, 0)(), exitcode.Retry, 0, "rank 0 is taken by pid ")
	onAll(t, teams, func(_ int, team *Team) error {
		if err := team.Group.AllReduce(team.Context(), ring.Reduction{Buf: make([]float32, 10)}); err != nil {
			return err
		}
		return team.Leave(t.Context())
	})
}

// TestMeetGivesUp verifies that rank 0 tells the waiting workers when its own rendezvous
// refuses it.
func TestMeetGivesUp(t *testing.T) {
	noLeak(t)
	c := servedCrew(t, 3)
	zero := &Team{config: c.config}
	if err := zero.listen(c.places[0]); err != nil {
		t.Fatal(err)
	}
	defer zero.closePort()
	ended := make(chan met, 2)
	for range 2 { // one of two workers is refused after the other has joined
		go func() { ended <- c.meet(t.Context(), t, 1)()[0] }()
	}
	endsWith(t, []met{<-ended}, exitcode.Retry, 1, "rank 1 is taken by pid ")
	zero.tellJoinFault(t.Context(), c.places[0], 0, exitcode.With(exitcode.Usage, errors.New("an option is wrong")))
	endsWith(t, []met{<-ended}, exitcode.Usage, 0, "an option is wrong")
}

// If this failed, a worker without the right token would get in, or retry for longer than
// it may; or the others would not be told who keeps them waiting, and why.
func testToken(t *testing.T) {
	tests := []struct {
		name, listen, own string
		token             token.Token
	}{
		{"token=other", "127.0.0.1:0", ": set RINGTRAIN_TOKEN_FILE to one file for both", token.New()},
		{"token=none", ":0", "listening on :0 needs a token", token.Token{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCrew("", 3)
			c.config.StartTimeout = 300 * time.Millisecond
			serveAlone(t, c, 0)
			stranger := *c
			stranger.config.Token, stranger.places = tt.token, slices.Clone(c.places)
			stranger.config.StartTimeout = 100 * time.Millisecond
			stranger.places[1].Listen = tt.listen
			reason := "no word yet" // where the rank has not come
			if tt.token.Set() {
				reason = fmt.Sprintf(" with another token (%v)", tt.token.ID())
			}
			endsWith(t, stranger.meet(t.Context(), t, 1)(), exitcode.Auth, 1, tt.own)
			all := make(chan []met)
			go func() { all <- c.meet(t.Context(), t, 0, 2)() }()
			tries := time.NewTicker(20 * time.Millisecond) // more attempts come after the others have joined
			defer tries.Stop()
			for {
				select {
				case all := <-all:
					endsWith(t, all, exitcode.Retry, 1, "rank 1 missing after 300ms: ", reason, "; want 3 workers")
					return
				case <-tries.C:
					endsWith(t, stranger.meet(t.Context(), t, 1)(), exitcode.Auth, 1, tt.own)
				}
			}
		})
	}
}

// If this failed, rank 0 would serve on although the start is over, or one of
// the two would not say who is missing.
func testMissing(t *testing.T) {
	c := servedCrew(t, 3)
	c.config.StartTimeout = 300 * time.Millisecond
	endsWith(t, c.meet(t.Context(), t, 0, 1)(), exitcode.Retry, 2, "rank 2 missing after 300ms: no word yet; want 3 workers")
}

// TestMeetWaits runs the tests that wait in real time, in parallel.
func TestMeetWaits(t *testing.T) {
	noLeak(t)
	tests := map[string]func(*testing.T){
		"fault=missing": testMissing, "fault=token": testToken, "fault=port in use at rank 0": testPortInUseAt0, "fault=unreachable pair": testUnreachable,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// TestMeetOneInsecure verifies that a rank that alone lacks --insecure ends the others with
// exitcode.Retry.
func TestMeetOneInsecure(t *testing.T) {
	noLeak(t)
	c := newCrew("", 2)
	c.config.Token, c.config.Insecure = token.Token{}, true
	serveAlone(t, c, 0)
	other := *c
	other.config.Insecure, other.places = false, slices.Clone(c.places)
	other.places[1].Listen = ":0"
	zero, one := c.meet(t.Context(), t, 0), other.meet(t.Context(), t, 1)
	endsWith(t, one(), exitcode.Auth, 1, "listening on :0 needs a token")
	endsWith(t, zero(), exitcode.Retry, 1, "listening on :0 needs a token")
}

// TestMeetInsecure verifies that workers without a token form a group with --insecure, and
// are told what that means.
func TestMeetInsecure(t *testing.T) {
	noLeak(t)
	c := servedCrew(t, 2)
	c.config.Token, c.config.Insecure = token.Token{}, true
	c.places[0].Listen = strings.Replace(c.places[0].Listen, "127.0.0.1", "", 1)
	lines := make(chan string, 8)
	c.config.Notice = func(line string) { lines <- line }
	onAll(t, c.meetAll(t), func(_ int, team *Team) error { return team.Leave(t.Context()) })
	if line := <-lines; len(lines) > 0 || !strings.HasPrefix(line, "--insecure: listening on :") {
		t.Errorf("notice %q and %d more, want one that this is insecure", line, len(lines))
	}
}
