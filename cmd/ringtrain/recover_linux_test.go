package main

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A company is a job of ranks without a launcher, with a separate rendezvous.
type company struct {
	*box
	at      string // address of the rendezvous
	flags   []string
	meeting *testProcess
	job     []string
}

// steadyDigits is a job that is long enough to be disturbed.
func steadyDigits(more ...string) []string {
	return append([]string{
		"mnist", "--json", "--set", "input.synthetic=true", "--set", "train.steps=4000", "--set", "log.every=20",
		"--set", "allreduce.levels=flat", "--set", "export.savedmodel=",
	}, more...)
}

func newCompany(t *testing.T, job []string, flags ...string) *company {
	c := &company{box: newBox(t), at: "127.0.0.1:" + strconv.Itoa(freePorts(t, 1)[0]), flags: flags, job: job}
	c.serve()
	return c
}

// serve starts or restarts the rendezvous.
func (c *company) serve() {
	c.Helper()
	c.meeting = c.start(append([]string{"rendezvous", "--listen", c.at, "--world-size", "3"}, c.flags...)...)
	c.meeting.await("rendezvous on " + c.at)
}

// rank starts the process of a rank.
func (c *company) rank(rank int) *testProcess {
	c.Helper()
	b := c.with("RINGTRAIN_RANK="+strconv.Itoa(rank), "RINGTRAIN_WORLD_SIZE=3", "RINGTRAIN_RENDEZVOUS="+c.at)
	return b.start(append([]string{"train"}, c.job...)...)
}

func (c *company) ranks() []*testProcess {
	c.Helper()
	return []*testProcess{c.rank(0), c.rank(1), c.rank(2)}
}

// undisturbed returns the digest of the undisturbed job.
func undisturbed(t *testing.T, job []string) string {
	t.Helper()
	return newBox(t).must(0, append([]string{"run", "-np", "3"}, job...)...).digest(t)
}

// mustEnd verifies that all ranks succeed with the digest.
func mustEnd(t *testing.T, ranks []*testProcess, digest string) {
	t.Helper()
	for rank, p := range ranks {
		if e := p.wait(); e.code != 0 || e.last() != "digest="+digest {
			t.Errorf("rank %d ended with %d and %q, want 0 and digest=%s\n%s", rank, e.code, e.last(), digest, e.stderr)
		}
	}
}

// TestReturnedRank kills a rank without a launcher and restarts it by hand; another rank
// leaves by SIGTERM, which costs no step. It verifies the digest, and that the lost rank
// is named.
func TestReturnedRank(t *testing.T) {
	long(t)
	job := steadyDigits("--set", "train.steps=12000") // a rank that leaves alone waits a second for the others
	want := undisturbed(t, job)
	for _, victim := range []int{0, 1} {
		for _, tt := range []struct {
			signal syscall.Signal
			code   int
			says   string
		}{
			{syscall.SIGKILL, -1, "lost rank %d ("},
			{syscall.SIGTERM, 143, "rank %d on "},
		} {
			t.Run(fmt.Sprintf("rank=%d/signal=%d", victim, tt.signal), func(t *testing.T) {
				c := newCompany(t, job, "--restarts", "1")
				ranks := c.ranks()
				ranks[0].await(`"event":"step"`)
				ranks[victim].signal(tt.signal)
				if e := ranks[victim].wait(); e.code != tt.code {
					t.Errorf("rank %d ended with %d, want %d\n%s", victim, e.code, tt.code, e.stderr)
				}
				ranks[1-victim].await("generation 1 has ended: ") // the lowest living rank reports
				ranks[victim] = c.rank(victim)
				mustEnd(t, ranks, want)
				v := ranks[0].wait().only(t, "generation")
				lost := fmt.Sprint(v["lost"])
				if v.num("generation") != 2 || v.num("world_size") != 3 || lost != fmt.Sprintf("[%d]", victim) ||
					!strings.Contains(v.text("cause"), fmt.Sprintf(tt.says, victim)) {
					t.Errorf("event %v, want generation 2 of 3 after the loss of rank %d", v, victim)
				}
				if e := c.meeting.wait(); e.code != 0 {
					t.Errorf("the rendezvous ended with %d\n%s", e.code, e.stderr)
				}
			})
		}
	}
}

// TestLeftBetweenGenerations stops a rank by a signal while all wait for another one. It
// verifies that the rank ends at once, that the living rank keeps the state, and that the
// job ends with the digest of an undisturbed one when both are back.
func TestLeftBetweenGenerations(t *testing.T) {
	long(t)
	c := newCompany(t, steadyDigits(), "--restarts", "2")
	ranks := c.ranks()
	ranks[0].await(`"event":"step"`)
	ranks[2].signal(syscall.SIGKILL)
	ranks[0].await("generation 1 has ended: ")
	ranks[1].signal(syscall.SIGINT)
	ranks[2].wait()
	if e := ranks[1].wait(); e.code != 130 {
		t.Errorf("rank 1 ended with %d, want 130\n%s", e.code, e.stderr)
	}
	ranks[1], ranks[2] = c.rank(1), c.rank(2)
	mustEnd(t, ranks, undisturbed(t, steadyDigits()))
	if v := ranks[0].wait().only(t, "generation"); fmt.Sprint(v["lost"]) != "[1 2]" || v.num("steps_repeated") != 0 {
		t.Errorf("event %v, want one generation after the loss of ranks 1 and 2", v)
	}
}

// TestLooksInside verifies that signals make a rank dump its state and write a
// checkpoint without ending it.
func TestLooksInside(t *testing.T) {
	long(t)
	c := newCompany(t, steadyDigits())
	ranks := c.ranks()
	ranks[0].await(`"event":"step"`)
	ranks[1].signal(syscall.SIGQUIT)
	ranks[1].await("rank 1 of 3 in generation 1")
	ranks[1].await("goroutine ")
	ranks[2].signal(syscall.SIGUSR1)
	ranks[0].await(`"event":"checkpoint"`)
	mustEnd(t, ranks, undisturbed(t, steadyDigits()))
	if n := len(ranks[0].wait().ofKind(t, "checkpoint")); n != 2 {
		t.Errorf("%d checkpoints, want the one that was asked for and the last", n)
	}
}
