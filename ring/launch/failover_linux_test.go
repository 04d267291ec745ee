package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/hosts"
)

// notices collects what people are told.
type notices struct {
	mu    sync.Mutex
	lines []string
}

func (n *notices) tell(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}

// about are the lines with text in them.
func (n *notices) about(text string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(n.lines), func(line string) bool { return !strings.Contains(line, text) })
}

// cut makes hosts ones that cannot be reached any more.
func (j *job) cut(t *testing.T, hosts ...string) {
	t.Helper()
	for _, h := range hosts {
		if err := os.WriteFile(filepath.Join(filepath.Dir(j.SSH[0]), h+".down"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHostReplaced verifies that ranks of a lost host start on a host with free slots, or
// on their own host if it returns. They learn their new place, and people read it.
func TestHostReplaced(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, hosts string
		np          int
		by          hosts.Mapping
		victim      int // rank whose agent is killed
		down        []string
		moved       []string // "[rank] at HOST LOCAL of SIZE"
		said        string   // text after the reason
	}{
		{"host=back", "a:1,b:2", 3, hosts.BySlot, 1, nil, []string{"[1] at b 0 of 2", "[2] at b 1 of 2"}, "; started again: ranks 1, 2 there (7 restarts left)"},
		{"host=spare", "a:1,b:2,c:3", 3, hosts.BySlot, 1, []string{"b"}, []string{"[1] at c 0 of 2", "[2] at c 1 of 2"}, "; started again: ranks 1, 2 on host c (7 restarts left)"},
		{"host=spares", "a:1,b:3,c:2,d:2", 4, hosts.BySlot, 1, []string{"b"}, []string{"[1] at c 0 of 2", "[2] at c 1 of 2", "[3] at d 0 of 1"}, "; started again: ranks 1, 2 on host c, rank 3 on host d (6 restarts left)"},
		{"host=the second spare", "a:1,b:1,down:1,c:1", 2, hosts.BySlot, 1, []string{"b"}, []string{"[1] at c 0 of 1"}, "; started again: rank 1 on host c (8 restarts left)"},
		{"host=in use", "a:4,b:2", 4, hosts.ByNode, 1, []string{"b"}, []string{"[1] at a 2 of 4", "[3] at a 3 of 4"}, "; started again: ranks 1, 3 on host a (7 restarts left)"},
		{"rank=0", "a:1,b:1,c:1", 2, hosts.BySlot, 0, []string{"a"}, []string{"[0] at c 0 of 1"}, "; started again: rank 0 on host c (8 restarts left)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			told := new(notices)
			j := startRemote(t, tt.hosts, func(c *Config) {
				c.NP, c.MapBy, c.Restarts, c.Notice = tt.np, tt.by, 9, told.tell
				c.Server = &server{goes: true, left: 9}
			}, "settler")
			j.out.pids(t, tt.np)
			old := j.out.pidOf(t, tt.victim)
			j.cut(t, tt.down...)
			syscall.Kill(parentOf(t, old), syscall.SIGKILL)
			j.out.pids(t, tt.np+len(tt.moved))
			awaitEnd(t, old)
			lines := strings.Split(j.out.String(), "\n")
			for _, want := range tt.moved {
				if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, want+" ") }) {
					t.Errorf("%q is not said:\n%s", want, j.out)
				}
			}
			host := "b"
			if tt.victim == 0 {
				host = "a"
			}
			want := regexp.MustCompile("^host " + host + " was lost: ssh ended with exit code -1" + regexp.QuoteMeta(tt.said) + "$")
			if got := told.about("was lost"); len(got) != 1 || !want.MatchString(got[0]) {
				t.Errorf("people read %q, want one line like %s", got, want)
			}
			j.signals <- syscall.SIGTERM
			if r := j.wait(t); r.Code != 143 || j.fault != nil {
				t.Errorf("result %+v, error %v, want code 143", r, j.fault)
			}
			if got := strings.Count(j.out.String(), "got 15\n"); got != tt.np {
				t.Errorf("%d of %d ranks got the signal", got, tt.np)
			}
		})
	}
}

// TestHostNotReplaced verifies that a job ends if no host can take the ranks of a lost one,
// and that its error names the lost host and the spare one that did not answer.
func TestHostNotReplaced(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, hosts string
		np, n       int // restarts
		text        string
	}{
		{"slots=none", "a:1,b:1", 2, 9, "; again: ssh: connect to host b port 22: No route to host; no other host has a free slot"},
		{"slots=too few", "a:1,b:2,c:1", 3, 9, "; again: ssh: connect to host b port 22: No route to host; no other host has a free slot"},
		{"spare=down", "a:1,b:1,down:1", 2, 9, "; again: ssh: connect to host b port 22: No route to host; host down: ssh: connect to host down port 22: No route to host; no other host has a free slot"},
		{"spares=down", "a:1,b:1,down1:1,down2:1,down3:1", 2, 9, "; host down1: ssh: connect to host down1 port 22: No route to host (and 2 hosts more); no other host has a free slot"},
		{"restarts=too few", "a:1,b:2,c:2", 3, 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := startRemote(t, tt.hosts, func(c *Config) {
				c.NP, c.Restarts, c.Server = tt.np, tt.n, &server{goes: true, left: tt.n}
			}, "wait")
			j.out.pids(t, tt.np)
			j.cut(t, "b")
			syscall.Kill(parentOf(t, j.out.pidOf(t, 1)), syscall.SIGKILL)
			r := j.wait(t)
			if !strings.Contains(r.Text, " on host b is lost: ssh ended with exit code") || !strings.HasSuffix(r.Text, tt.text) || r.Code != 138 || r.Host != "b" {
				t.Errorf("result is %+v, want code 138 and host b with %q", r, tt.text)
			}
			if got := strings.Count(j.out.String(), "ready"); got != tt.np {
				t.Errorf("%d starts, want %d", got, tt.np)
			}
		})
	}
}

// TestHostSoughtStopped verifies that a signal ends the job while the launcher looks for
// another host.
func TestHostSoughtStopped(t *testing.T) {
	t.Parallel()
	for _, hosts := range []string{"a:1,b:1,slow:1", "b:1,slow:1"} {
		t.Run("hosts="+hosts, func(t *testing.T) {
			t.Parallel()
			np := strings.Count(hosts, ",")
			j := startRemote(t, hosts, func(c *Config) {
				c.NP, c.Restarts, c.Server = np, 9, &server{goes: true, left: 9}
			}, "wait")
			j.out.pids(t, np)
			j.cut(t, "b")
			syscall.Kill(parentOf(t, j.out.pidOf(t, np-1)), syscall.SIGKILL)
			if !eventually(func() bool { return slices.Contains(j.ways(t), "launcher slow") }, patience) {
				t.Fatalf("nobody logs in to the spare host, only %q", j.ways(t))
			}
			j.signals <- syscall.SIGTERM
			if r := j.wait(t); r.Code != 143 || r.Text == "" || j.fault != nil {
				t.Errorf("result is %+v, error %v, want code 143 and a reason", r, j.fault)
			}
			for _, d := range j.dials(t) {
				awaitEnd(t, d.pid)
			}
		})
	}
}

// TestHostReplacedNotStarted verifies that the launcher does not wait for a rank that could
// not be started on its new host.
func TestHostReplacedNotStarted(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho ready $$\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	j := startRemote(t, "b:1,localhost:1", func(c *Config) {
		c.NP, c.Restarts, c.Server = 1, 9, &server{goes: true, left: 9}
		c.Program, c.Self = []string{program}, false
	})
	j.out.pids(t, 1)
	j.cut(t, "b")
	os.Remove(program)
	syscall.Kill(parentOf(t, j.out.pidOf(t, 0)), syscall.SIGKILL)
	j.wait(t)
	if text := fmt.Sprint(j.fault); exitcode.Of(j.fault) != exitcode.NotFound || !strings.HasPrefix(text, "start rank 0: ") || strings.Contains(text, "do not end") {
		t.Errorf("error %v with code %d, want that rank 0 cannot be started, and no more", j.fault, exitcode.Of(j.fault))
	}
}

// TestAgentStopped verifies that people read once, after silentNotice of real time, which
// agent is silent and which ranks are there.
func TestAgentStopped(t *testing.T) {
	t.Parallel()
	for victim, ranks := range map[int]string{0: "rank 0", 1: "ranks 1, 2"} {
		t.Run(strings.Fields(ranks)[1], func(t *testing.T) {
			t.Parallel()
			told := new(notices)
			j := startRemote(t, "h0:1,h1:2", func(c *Config) { c.Notice = told.tell }, "wait")
			j.out.pids(t, 3)
			agent := parentOf(t, j.out.pidOf(t, victim))
			syscall.Kill(agent, syscall.SIGSTOP)
			defer syscall.Kill(agent, syscall.SIGCONT)
			if !eventually(func() bool { return len(told.about("silent")) > 0 || len(told.about("has said nothing")) > 0 }, patience) {
				t.Fatal("people are told nothing")
			}
			syscall.Kill(agent, syscall.SIGCONT)
			j.signals <- syscall.SIGTERM
			if r := j.wait(t); r.Code != 143 || j.fault != nil {
				t.Errorf("result is %+v, error %v, want code 143", r, j.fault)
			}
			want := "host h" + string(rune('0'+victim)) + ": its agent has said nothing for 5s; unheard: " + ranks
			if got := told.about("has said nothing"); !slices.Equal(got, []string{want}) {
				t.Errorf("people read %q, want %q", got, want)
			}
		})
	}
}

// TestAgentToldRestarts verifies that TERM to an agent costs one restart of each of its
// ranks, not two.
func TestAgentToldRestarts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, hosts string
		part, said  string
	}{
		{"ranks=end by the signal", "a:1,b:2", "wait", "ranks 1, 2 there"},
		{"ranks=are killed", "a:1,b:2", "stubborn", "ranks 1, 2 there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			told, s := new(notices), &server{goes: true, left: 9}
			j := startRemote(t, tt.hosts, func(c *Config) { c.Restarts, c.Notice, c.Server = 9, told.tell, s }, tt.part)
			j.out.pids(t, 3)
			syscall.Kill(parentOf(t, j.out.pidOf(t, 1)), syscall.SIGTERM)
			j.out.pids(t, 5)
			for _, line := range told.about("was lost") {
				if !strings.Contains(line, "its agent has ended; started again: "+tt.said) || !strings.HasSuffix(line, "(7 restarts left)") {
					t.Errorf("people read %q, want %q in it and 7 restarts left", line, tt.said)
				}
			}
			j.hurry(syscall.SIGTERM)
			if r := j.wait(t); j.fault != nil {
				t.Errorf("result %+v, error %v", r, j.fault)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.lost) != 2 {
				t.Errorf("rendezvous was told of %d losses, want 2: %q", len(s.lost), s.lost)
			}
		})
	}
}
