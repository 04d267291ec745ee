package launch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/launch/process"
)

// TestTermination plays the events of a run on a clock of its own. It verifies which rank is
// blamed, and that ranks are told to end once, and when.
func TestTermination(t *testing.T) {
	exit := func(rank, code int) func(*termination, time.Time) action {
		return func(c *termination, now time.Time) action {
			c.rankEnded(process.Ending{Rank: rank, PID: 7, ExitCode: code}, now)
			return actionNone
		}
	}
	killed := func(rank int, s syscall.Signal) func(*termination, time.Time) action {
		return func(c *termination, now time.Time) action {
			c.rankEnded(process.Ending{Rank: rank, PID: 7, ExitCode: -1, Signal: s}, now)
			return actionNone
		}
	}
	sig := func(s syscall.Signal) func(*termination, time.Time) action {
		return func(c *termination, now time.Time) action { return c.signaled(s, now) }
	}
	expired := func(c *termination, now time.Time) action { return c.expire(time.Minute, now) }
	lost := func(c *termination, now time.Time) action {
		c.rankEnded(process.Ending{Rank: 2, Host: "b", Lost: true, Why: "Connection reset"}, now)
		return actionNone
	}
	dropped := func(c *termination, now time.Time) action { c.restartsDropped = true; return actionNone }
	elsewhere := func(c *termination, now time.Time) action {
		c.rankEnded(process.Ending{Rank: 1, Host: "b", PID: 7, ExitCode: 65}, now)
		return actionNone
	}
	type script map[int]func(*termination, time.Time) action // at seconds
	tests := []struct {
		name   string
		script script
		orders string // order@second
		code   int
		text   string
	}{
		{"all=ok", script{1: exit(0, 0), 2: exit(1, 0)}, "", 0, ""},
		{"failure=one", script{3: exit(1, 65)}, "2@4 3@14 4@24", 65, "rank 1 (pid 7) ended with exit code 65"},
		{"failure=two in time", script{3: exit(1, 65), 4: exit(0, 1)}, "2@4 3@14 4@24", 65, "rank 1 (pid 7) ended with exit code 65"},
		{"failure=told first", script{3: exit(1, 138), 6: exit(0, 1)}, "2@4 3@14 4@24", 138, "rank 1 (pid 7) ended with exit code 138"},
		{"failure=symptom seen before its cause", script{3: exit(1, 138), 4: killed(0, syscall.SIGKILL)}, "2@4 3@14 4@24", 137, "rank 0 was killed by signal 9 (killed)"},
		{"failure=killed by the signal whose number is 138's", script{3: killed(1, syscall.SIGUSR1), 4: exit(0, 1)}, "2@4 3@14 4@24", 138, "rank 1 was killed by signal 10 (user defined signal 1)"},
		{"signal=one and nobody ends", script{3: sig(syscall.SIGTERM)}, "1@3", 0, ""},
		{"signal=one and nobody is there", script{3: sig(syscall.SIGTERM), 4: dropped}, "1@3", 143, "stopped by signal 15 (terminated) while ranks were to be started again"},
		{"signal=one and a rank is not there", script{3: sig(syscall.SIGTERM), 4: dropped, 5: exit(2, 0)}, "1@3 3@15 4@25", 143, "ranks were killed after signal 15 (terminated)"},
		{"signal=one and a rank obeys", script{3: sig(syscall.SIGTERM), 5: exit(2, 143)}, "1@3 3@15 4@25", 143, "stopped by signal 15 (terminated)"},
		{"signal=one and a rank dies of it", script{3: sig(syscall.SIGTERM), 5: killed(2, syscall.SIGTERM)}, "1@3 3@15 4@25", 143, "stopped by signal 15 (terminated)"},
		{"signal=one and a rank dies of another", script{3: sig(syscall.SIGTERM), 5: killed(2, syscall.SIGSEGV)}, "1@3 3@15 4@25", 139, "rank 2 was killed by signal 11 (segmentation fault)"},
		{"signal=one and a rank was done", script{3: sig(syscall.SIGTERM), 5: exit(2, 0)}, "1@3 3@15 4@25", 143, "ranks were killed after signal 15 (terminated)"},
		{"signal=two", script{3: sig(syscall.SIGINT), 4: sig(syscall.SIGTERM)}, "1@3 3@4 4@14", 130, "ranks were killed after signal 2 (interrupt)"},
		{"signal=just after a failure", script{3: exit(0, 80), 4: sig(syscall.SIGTERM)}, "1@4 3@14 4@24", 80, "rank 0 (pid 7) ended with exit code 80"},
		{"signal=long after a failure", script{3: exit(0, 80), 7: sig(syscall.SIGTERM)}, "2@4 1@7 3@14 4@24", 80, "rank 0 (pid 7) ended with exit code 80"},
		{"context=over", script{3: (*termination).cancel}, "2@3 3@13 4@23", 0, ""},
		{"timeout=over", script{3: expired, 4: killed(0, syscall.SIGQUIT)}, "5@3 2@4 3@14 4@24", 110, "not done after 1m0s (--timeout): ranks were told to dump and to end"},
		{"timeout=over after a failure", script{3: exit(0, 65), 4: expired}, "2@4 3@14 4@24", 65, "rank 0 (pid 7) ended with exit code 65"},
		{"timeout=over, then a signal", script{3: expired, 5: sig(syscall.SIGTERM)}, "5@3 2@4 1@5 3@14 4@24", 110, "not done after 1m0s (--timeout): ranks were told to dump and to end"},
		{"host=lost", script{3: lost, 4: exit(0, 138)}, "2@4 3@14 4@24", 138, "rank 2 on host b is lost: Connection reset"},
		{"host=lost, seen after its symptom", script{3: exit(0, 138), 4: lost}, "2@4 3@14 4@24", 138, "rank 2 on host b is lost: Connection reset"},
		{"host=lost, seen late", script{3: exit(0, 138), 6: lost}, "2@4 3@14 4@24", 138, "rank 2 on host b is lost: Connection reset"},
		{"host=lost late, after another failure", script{3: exit(0, 65), 6: lost}, "2@4 3@14 4@24", 65, "rank 0 (pid 7) ended with exit code 65"},
		{"host=another", script{3: elsewhere}, "2@4 3@14 4@24", 65, "rank 1 on host b (pid 7) ended with exit code 65"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := termination{grace: 10 * time.Second}
			start := time.Unix(0, 0)
			var orders []string
			for second := range 40 {
				now := start.Add(time.Duration(second) * time.Second)
				o := actionNone
				if act := tt.script[second]; act != nil {
					o = act(&c, now)
				}
				if next := c.nextDeadline(); o == actionNone && !next.IsZero() && !next.After(now) {
					o = c.tick(now)
				}
				if o != actionNone {
					orders = append(orders, fmt.Sprintf("%d@%d", o, second))
				}
				if o == actionGiveUp {
					break
				}
			}
			if got := strings.Join(orders, " "); got != tt.orders {
				t.Errorf("orders %q, want %q (events at %v)", got, tt.orders, slices.Sorted(maps.Keys(tt.script)))
			}
			if r := c.result(); r.Code != tt.code || r.Text != tt.text {
				t.Errorf("result is %+v, want code %d, %q", r, tt.code, tt.text)
			}
		})
	}
}

// TestTerminationSignalTwice verifies that a second signal within SameTime changes nothing,
// and that a later one kills.
func TestTerminationSignalTwice(t *testing.T) {
	c, start := termination{grace: 10 * time.Second}, time.Unix(0, 0)
	for _, tt := range []struct {
		after time.Duration
		want  action
	}{{0, actionForward}, {0, actionNone}, {500*time.Millisecond - 1, actionNone}, {500 * time.Millisecond, actionKill}} {
		if got := c.signaled(syscall.SIGTERM, start.Add(tt.after)); got != tt.want {
			t.Errorf("signal after %v: order %d, want %d", tt.after, got, tt.want)
		}
	}
}
