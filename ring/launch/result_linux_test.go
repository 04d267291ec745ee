package launch

import (
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/rendezvous"
)

// knowing is a rendezvous that knows a cause.
type knowing struct {
	server
	cause *ring.Cause
}

func (k *knowing) Cause() *ring.Cause { return k.cause }

// TestResult verifies that the result is the cause that the rendezvous knows if the first
// rank ended because of it, and else the ending of that rank.
func TestResult(t *testing.T) {
	disk := &ring.Cause{Rank: 0, Host: "a", Step: -1, Text: "checkpoint.dir: cannot write", ExitCode: 73}
	missing := &ring.Cause{Rank: -1, Step: -1, Operation: "join", Text: "ranks 12, 17 missing after 8s", ExitCode: 138}
	lost := &ring.Cause{Rank: 2, Host: "a", Step: 41, Text: "lost rank 2 (a a:1): connection reset", ExitCode: 138}
	own := func(code int) *ring.Cause {
		return &ring.Cause{Rank: 2, Step: -1, Text: "process 7 ended with exit code 138", ExitCode: code}
	}
	refused := func(code int) *ring.Cause {
		why := map[int]string{77: "wrong token", 138: "taken"}[code]
		return &ring.Cause{Rank: 2, Step: -1, Text: fmt.Sprintf("process 7 ended with exit code %d: %s", code, why), ExitCode: 138}
	}
	tests := []struct {
		name       string
		first      process.Ending
		cause      *ring.Cause
		code, rank int
		text       string
	}{
		{"cause=none", process.Ending{ExitCode: 65}, nil, 65, 2, "rank 2 (pid 7) ended with exit code 65"},
		{"cause=another rank's", process.Ending{ExitCode: 73}, disk, 73, 0, "rank 0 on a: checkpoint.dir: cannot write"},
		{"cause=another rank's, after a symptom", process.Ending{ExitCode: 138}, disk, 73, 0, "rank 0 on a: checkpoint.dir: cannot write"},
		{"cause=of nobody here", process.Ending{ExitCode: 138}, missing, 138, -1, "ranks 12, 17 missing after 8s"},
		{"cause=its own end", process.Ending{ExitCode: 138}, own(138), 138, 2, "rank 2 (pid 7) ended with exit code 138"},
		{"cause=its own end, with a code for others", process.Ending{ExitCode: 65}, own(138), 65, 2, "rank 2 (pid 7) ended with exit code 65"},
		{"cause=its refusal", process.Ending{ExitCode: 77, Why: "wrong token"}, refused(77), 77, 2, "rank 2 (pid 7) ended with exit code 77: wrong token"},
		{"cause=its refusal, which another start may mend", process.Ending{ExitCode: 138, Why: "taken"}, refused(138), 138, 2, "rank 2 (pid 7) ended with exit code 138: taken"},
		{"cause=its loss, which it says better", process.Ending{ExitCode: -1, Signal: syscall.SIGKILL}, lost, 137, 2, "rank 2 was killed by signal 9 (killed)"},
		{"cause=the loss of its host", process.Ending{Host: "b", Lost: true, Why: "Connection reset"}, lost, 138, 2, "rank 2 on host b is lost: Connection reset"},
		{"cause=a loss, after another failure", process.Ending{ExitCode: 1}, lost, 1, 2, "rank 2 (pid 7) ended with exit code 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.first.Rank, tt.first.PID = 2, 7
			l := launcher{config: &Config{Server: &knowing{cause: tt.cause}}, termination: termination{firstFailure: &tt.first}}
			if r := l.result(); r.Code != tt.code || r.Rank != tt.rank || r.Text != tt.text || r.Cause != tt.cause {
				t.Errorf("result %+v, want code %d, rank %d, %q", r, tt.code, tt.rank, tt.text)
			}
		})
	}
}

// TestResultOfSilence verifies that the silence of a host is the first cause of the loss of its rank,
// and not of the loss of another rank, nor a silence that is short.
func TestResultOfSilence(t *testing.T) {
	const lost = "lost rank 2 (b b:1): silent for 5s"
	for _, tt := range []struct {
		name string
		host int // of the silent login
		lost time.Duration
		text string
	}{
		{"of its host", 1, 6 * time.Second, "host b and the launcher did not hear each other for 6 s"},
		{"of another host", 0, 6 * time.Second, lost},
		{"short", 1, 3 * time.Second, lost},
	} {
		t.Run("silence="+tt.name, func(t *testing.T) {
			s := &knowing{cause: &ring.Cause{Rank: 2, Host: "b", Step: 41, Text: lost, ExitCode: 138}}
			g := &login{target: target{host: tt.host, name: "b"}}
			g.silence.ticks.Store(int32(tt.lost / aliveInterval))
			l := launcher{
				config: &Config{Server: s}, termination: termination{firstFailure: &process.Ending{Rank: 2, Host: "b", PID: 7, ExitCode: 138}},
				logins: []*login{g}, assignments: []hosts.Assignment{{Rank: 0}, {Rank: 1}, {Rank: 2, Host: 1}},
			}
			l.keepSilence()
			if r := l.result(); r.Code != 138 || r.Rank != 2 || !strings.HasSuffix(r.Text, tt.text) || r.Cause.Text != tt.text {
				t.Errorf("result %+v with cause %+v, want 138, rank 2 and %q", r, r.Cause, tt.text)
			}
		})
	}
}

// TestReasonOfRank verifies that the last line in which a rank says why it ends describes its
// ending, that a line about the remedy does not, and that the next process of the rank has its own.
func TestReasonOfRank(t *testing.T) {
	v, err := newRankOutputs(&Config{NP: 1, Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	v.write(0, false, []byte("ringtrain: of standard output\n"))
	v.write(0, true, []byte("step 3\nringtrain: first\nringt"))
	v.write(0, true, []byte("rain: lost the rendezvous\nringtrain: what to do: ringtrain help\nmore ringtrain: text\n"))
	e := process.Ending{PID: 7, ExitCode: 138, Why: v.takeReason(0)}
	if got, want := e.String(), "rank 0 (pid 7) ended with exit code 138: lost the rendezvous"; got != want {
		t.Errorf("ending is %q, want %q", got, want)
	}
	if !e.Symptom() {
		t.Error("a rank that lost others is the cause of their end")
	}
	if again := v.takeReason(0); again != "" {
		t.Errorf("the next process has said %q", again)
	}
	v.close()
}

// TestResultGaveUp verifies that the launcher ends with the code of a rank that was in a
// loop, of which the others were told, and that its last line says why it gave up.
func TestResultGaveUp(t *testing.T) {
	looped := &ring.Cause{Rank: 1, Step: -1, Text: "gave up: rank 1 ended each of 5", ExitCode: 138}
	used := &ring.Cause{Rank: 1, Step: -1, Text: "lost rank 1; gave up: no restart is left", ExitCode: 138}
	for _, tt := range []struct {
		name   string
		first  process.Ending
		cause  *ring.Cause
		gaveUp rendezvous.GaveUp
		code   int
		text   string
	}{
		{"loop", process.Ending{Rank: 0, ExitCode: 138}, looped, rendezvous.GaveUp{Rank: 1, Why: looped.Text}, 139, "gave up: rank 1 ended each of 5"},
		{"restarts=used up", process.Ending{Rank: 1, Signal: syscall.SIGKILL}, used, rendezvous.GaveUp{Rank: -1, Why: "gave up: no restart is left"}, 137,
			"rank 1 was killed by signal 9 (killed); gave up: no restart is left"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &knowing{server: server{gaveUp: tt.gaveUp}, cause: tt.cause}
			l := launcher{config: &Config{Server: s}, termination: termination{firstFailure: &tt.first}, lastEnding: map[int]process.Ending{1: {Rank: 1, Signal: syscall.SIGSEGV}}}
			if r := l.result(); r.Code != tt.code || r.Text != tt.text {
				t.Errorf("result %+v, want code %d, %q", r, tt.code, tt.text)
			}
		})
	}
}
