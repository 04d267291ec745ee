package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// patience is how long a test waits for what must come.
const patience = 15 * time.Second

// fastRace keeps the race detector from sleeping at the end of each process.
const fastRace = "GORACE=atexit_sleep_ms=0"

// console collects lines and lets a test wait for some.
type console struct {
	mu    sync.Mutex
	text  strings.Builder
	grown chan struct{} // closed and replaced by each Write
	torn  bool          // a Write did not end a line
}

func newConsole() *console { return &console{grown: make(chan struct{})} }

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.torn = c.torn || p[len(p)-1] != '\n'
	close(c.grown)
	c.grown = make(chan struct{})
	return c.text.Write(p)
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// await returns the matches of pattern as soon as there are n.
func (c *console) await(t *testing.T, pattern string, n int) [][]string {
	t.Helper()
	re, limit := regexp.MustCompile(pattern), time.After(patience)
	for {
		c.mu.Lock()
		found, grown := re.FindAllStringSubmatch(c.text.String(), -1), c.grown
		c.mu.Unlock()
		if len(found) >= n {
			return found
		}
		select {
		case <-grown:
		case <-limit:
			t.Fatalf("%d of %d lines like %q after %v, have:\n%s", len(found), n, pattern, patience, c)
		}
	}
}

// pids waits for the processes that say "ready PID".
func (c *console) pids(t *testing.T, n int) []int {
	t.Helper()
	var pids []int
	for _, m := range c.await(t, `ready (\d+)`, n) {
		pid, _ := strconv.Atoi(m[1])
		pids = append(pids, pid)
	}
	return pids
}

// pidOf returns the process of rank, which has said that it is ready.
func (c *console) pidOf(t *testing.T, rank int) int {
	t.Helper()
	pid, _ := strconv.Atoi(c.await(t, fmt.Sprintf(`\[%d\] ready (\d+)`, rank), 1)[0][1])
	return pid
}

// job is a Run of this test binary in the background.
type job struct {
	Config
	out, err *console
	signals  chan os.Signal
	server   *server
	cancel   context.CancelCauseFunc
	ended    chan struct{}
	result   Result
	fault    error
}

// server is a rendezvous that keeps what it is told.
type server struct {
	mu   sync.Mutex
	lost []string
	stop int  // the code that StopAll received
	goes bool // the job continues: there is no cause of an end
	left int  // restarts left

	gaveUp rendezvous.GaveUp
	over   bool        // the job has ended
	by     *ring.Cause // what Stopped returns
	given  chan int
}

func (s *server) Started(int) {}

func (s *server) Lost(rank int, text string, code int) rendezvous.Verdict {
	s.LostForGood(rank, text, code)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left--
	return rendezvous.Verdict{Again: s.goes && !s.over && s.left >= 0}
}

func (s *server) LostForGood(rank int, text string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = append(s.lost, fmt.Sprintf("%d: %s: %d", rank, regexp.MustCompile(`process \d+`).ReplaceAllString(text, "process PID"), code))
}

func (s *server) RestartsLeft() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.left, 0)
}

func (s *server) GaveUp() rendezvous.GaveUp { return s.gaveUp }

func (s *server) Cause() *ring.Cause {
	if s.goes {
		return nil
	}
	return &ring.Cause{Rank: 1, Step: -1, Text: "told by the rendezvous", ExitCode: exitcode.Retry}
}

func (s *server) Stopped() *ring.Cause { return s.by }

func (s *server) GivenUp() <-chan int { return s.given }

func (s *server) Done() <-chan struct{} {
	if !s.over {
		return nil
	}
	over := make(chan struct{})
	close(over)
	return over
}

func (s *server) StopAll(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = code
}

func startJob(t *testing.T, np int, change func(*Config), args ...string) *job {
	t.Helper()
	j := &job{out: newConsole(), err: newConsole(), signals: make(chan os.Signal, 2), server: &server{gaveUp: rendezvous.GaveUp{Rank: -1}}, ended: make(chan struct{})}
	j.Config = Config{
		NP: np, Program: append([]string{os.Args[0]}, args...), Env: append(os.Environ(), testProgram+"=1", fastRace),
		Stdout: j.out, Stderr: j.err, Server: j.server, Signals: j.signals, Grace: patience,
	}
	if change != nil {
		change(&j.Config)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	j.cancel = cancel
	go func() {
		j.result, j.fault = Run(ctx, j.Config)
		close(j.ended)
	}()
	t.Cleanup(func() { cancel(nil); <-j.ended })
	return j
}

// hurry sends the launcher a signal, and a second one that it cannot take for the same.
func (j *job) hurry(s syscall.Signal) {
	j.signals <- s
	select {
	case <-j.ended:
	case <-time.After(2 * SameTime):
		j.signals <- s
	}
}

// wait returns the result of a job that must end soon.
func (j *job) wait(t *testing.T) Result {
	t.Helper()
	select {
	case <-j.ended:
	case <-time.After(2 * patience):
		t.Fatalf("job has not ended, output:\n%s%s", j.out, j.err)
	}
	return j.result
}

// awaitEnd waits until process pid has ended; a zombie has.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatalf("process %d: %v", pid, err)
	}
	defer unix.Close(fd)
	deadline := time.Now().Add(patience)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(time.Until(deadline).Milliseconds()))
		if n > 0 {
			return
		}
		if !errors.Is(err, unix.EINTR) {
			t.Fatalf("process %d lives after %v", pid, patience)
		}
	}
}

// checkToken verifies that each rank found the token in a file that was this job's, that the
// file is gone, and that neither the token nor RINGTRAIN_TOKEN was in a rank's environment.
func (j *job) checkToken(t *testing.T, ranks int) {
	t.Helper()
	out := j.out.String()
	if n := strings.Count(out, fmt.Sprintf("] token %v <nil>\n", j.Token.ID())); n != ranks {
		t.Errorf("%d of %d ranks have the token", n, ranks)
	}
	if strings.Contains(out, j.Token.Reveal()) || strings.Contains(out, "] RINGTRAIN_TOKEN=") {
		t.Error("the token is in the environment of a rank, or RINGTRAIN_TOKEN is")
	}
	files := regexp.MustCompile(`\] RINGTRAIN_TOKEN_FILE=(.+)\n`).FindAllStringSubmatch(out, -1)
	if len(files) != ranks {
		t.Errorf("%d of %d ranks have a file of the token", len(files), ranks)
	}
	for _, f := range files {
		if _, err := os.Stat(f[1]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after the job %s is left: %v", f[1], err)
		}
	}
}

// TestRunTellsPlace verifies the environment of each rank.
func TestRunTellsPlace(t *testing.T) {
	t.Parallel()
	secret := token.New()
	j := startJob(t, 2, func(c *Config) {
		c.Rendezvous, c.JobID, c.Token = "127.0.0.1:29400", "j1", token.Source{Token: secret}
		c.Env = append(c.Env, "RANK=9", "FOO=bar", "RINGTRAIN_TOKEN="+secret.Reveal(), "RINGTRAIN_TOKEN_FILE=other")
		c.Export = []string{"RINGTRAIN_TOKEN=exported"}
	}, "place")
	if r := j.wait(t); j.fault != nil || r.Code != 0 || r.Rank != -1 || r.Text != "" {
		t.Errorf("result %+v, error %v, want none failed", r, j.fault)
	}
	lines := strings.Split(j.out.String(), "\n")
	for rank := range 2 {
		for _, want := range []string{
			fmt.Sprint("RINGTRAIN_RANK=", rank), "RINGTRAIN_WORLD_SIZE=2", fmt.Sprint("RINGTRAIN_LOCAL_RANK=", rank), "RINGTRAIN_LOCAL_SIZE=2",
			fmt.Sprint("RANK=", rank), "WORLD_SIZE=2", fmt.Sprint("LOCAL_RANK=", rank), "LOCAL_WORLD_SIZE=2", "FOO=bar",
			"RINGTRAIN_RENDEZVOUS=127.0.0.1:29400", "RINGTRAIN_JOB_ID=j1",
		} {
			if !slices.Contains(lines, fmt.Sprintf("[%d] %s", rank, want)) {
				t.Errorf("rank %d lacks %s", rank, want)
			}
		}
	}
	j.checkToken(t, 2)
	if strings.Contains(j.out.String(), process.GuardVariable) {
		t.Error("ranks have the guard's variable: they would take themselves for one")
	}
}

// TestRunWholeLines verifies that lines of several ranks arrive complete, whole and in
// order.
func TestRunWholeLines(t *testing.T) {
	t.Parallel()
	const np, n = 4, 300
	j := startJob(t, np, nil, "chatter", strconv.Itoa(n))
	j.wait(t)
	for name, c := range map[string]*console{"stdout": j.out, "stderr": j.err} {
		next := make([]int, np)
		for line := range strings.Lines(c.String()) {
			var rank, i, again int
			if _, err := fmt.Sscanf(line, "[%d] line %d of rank %d\n", &rank, &i, &again); err == nil && rank == again && i == next[rank] {
				next[rank]++
			} else if name != "stdout" || !regexp.MustCompile(`^\[[0-3]\] the end\n$`).MatchString(line) {
				t.Fatalf("%s has the line %q", name, line)
			}
		}
		if want := []int{n, n, n, n}; !slices.Equal(next, want) || c.torn {
			t.Errorf("%s has %v lines of each rank, want %v; torn writes: %v", name, next, want, c.torn)
		}
	}
	if got := strings.Count(j.out.String(), "the end\n"); got != np {
		t.Errorf("%d of %d last lines have an end", got, np)
	}
}

// TestRunJSON verifies that standard output under --json has only lines of rank 0.
func TestRunJSON(t *testing.T) {
	t.Parallel()
	j := startJob(t, 2, func(c *Config) { c.Bare, c.Events = true, "1" }, "place")
	j.wait(t)
	if out := j.out.String(); strings.Contains(out, "[") || !strings.Contains(out, "\nRINGTRAIN_JSON=1\n") && !strings.HasPrefix(out, "RINGTRAIN_JSON=1\n") {
		t.Errorf("stdout has a prefix, or lacks RINGTRAIN_JSON=1:\n%s", out)
	}
	if err := j.err.String(); !strings.Contains(err, "[1] RINGTRAIN_RANK=1\n") || strings.Contains(err, "[0]") {
		t.Errorf("stderr is not rank 1's output:\n%s", err)
	}
}

// TestRunFirstFailure verifies that the result is that of the first rank that fails, and
// that the other ranks are told to end.
func TestRunFirstFailure(t *testing.T) {
	t.Parallel()
	j := startJob(t, 3, nil, "exit", "-,-,65")
	r := j.wait(t)
	if want := regexp.MustCompile(`^rank 2 \(pid \d+\) ended with exit code 65$`); r.Code != 65 || r.Rank != 2 || !want.MatchString(r.Text) {
		t.Errorf("result is %+v, want code 65 of rank 2", r)
	}
	if r.Cause == nil || r.Cause.Text != "told by the rendezvous" {
		t.Errorf("cause is %v, want the rendezvous'", r.Cause)
	}
	if want := []string{"2: process PID ended with exit code 65: 138"}; !slices.Equal(j.server.lost, want) {
		t.Errorf("rendezvous was told %q, want %q", j.server.lost, want)
	}
	if got := strings.Count(j.out.String(), "got 15"); got != 2 {
		t.Errorf("%d of 2 ranks were told to end:\n%s", got, j.out)
	}
}

// TestRunRankKilled verifies that the result names a killed rank and the signal.
func TestRunRankKilled(t *testing.T) {
	t.Parallel()
	j := startJob(t, 2, nil, "wait")
	syscall.Kill(j.out.pidOf(t, 1), syscall.SIGKILL)
	if r := j.wait(t); r.Code != 137 || r.Rank != 1 || r.Text != "rank 1 was killed by signal 9 (killed)" {
		t.Errorf("result is %+v, want rank 1 killed by signal 9", r)
	}
	if want := []string{"1: killed by signal 9 (killed): 138"}; !slices.Equal(j.server.lost, want) {
		t.Errorf("rendezvous was told %q, want %q", j.server.lost, want)
	}
}

// TestRunStubbornRanks verifies that ranks that ignore TERM are killed after Grace.
func TestRunStubbornRanks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		end  func(*job)
		code int
	}{
		{"end=second signal", func(j *job) { j.hurry(syscall.SIGINT) }, 130},
		{"end=context", func(j *job) { j.cancel(errors.New("enough")) }, 0},
		{"end=rank killed", func(j *job) { syscall.Kill(j.out.pidOf(t, 0), syscall.SIGKILL) }, 137},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := startJob(t, 2, func(c *Config) { c.Grace = 50 * time.Millisecond }, "stubborn")
			pids := j.out.pids(t, 2)
			tt.end(j)
			if r := j.wait(t); r.Code != tt.code {
				t.Errorf("result is %+v, want code %d", r, tt.code)
			}
			if wantFault := tt.name == "end=context"; (j.fault != nil) != wantFault || wantFault && j.fault.Error() != "enough" {
				t.Errorf("error is %v", j.fault)
			}
			for _, pid := range pids {
				if err := syscall.Kill(pid, 0); err == nil {
					t.Errorf("process %d is there after Run", pid)
				}
			}
		})
	}
}

// TestRunPassesSignals verifies that TERM and INT reach the ranks.
func TestRunPassesSignals(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(fmt.Sprintf("signal=%d", s), func(t *testing.T) {
			t.Parallel()
			j := startJob(t, 2, nil, "wait")
			j.out.pids(t, 2)
			j.signals <- s
			if r := j.wait(t); r.Code != 128+int(s) || r.Rank != -1 || r.Text != "stopped by "+process.SignalText(s) || j.fault != nil {
				t.Errorf("result is %+v, error %v, want code %d of no rank", r, j.fault, 128+int(s))
			}
			if got := strings.Count(j.out.String(), fmt.Sprint("got ", int(s), "\n")); got != 2 {
				t.Errorf("%d of 2 ranks got the signal:\n%s", got, j.out)
			}
			if len(j.server.lost) != 0 {
				t.Errorf("ranks that ended as asked were reported lost: %q", j.server.lost)
			}
		})
	}
}

// TestRunSweepsGrandchildren verifies that children that a rank leaves behind end, and that
// their open output does not hold up Run.
func TestRunSweepsGrandchildren(t *testing.T) {
	t.Parallel()
	j := startJob(t, 1, func(c *Config) { c.Grace = 50 * time.Millisecond }, "parent", "leave")
	pid := j.out.pidOf(t, 0)
	if r := j.wait(t); r.Code != 0 {
		t.Errorf("result is %+v, want success: rank 0 ended with 0", r)
	}
	awaitEnd(t, pid)
}

// TestRunRefuses verifies the exit codes of wrong command lines, and that none of their
// ranks start.
func TestRunRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain, script := filepath.Join(dir, "plain"), filepath.Join(dir, "script")
	os.WriteFile(plain, []byte("x"), 0o644)
	os.WriteFile(script, []byte("no program\x00"), 0o755)
	tests := []struct {
		name    string
		np      int
		program []string
		code    int
		text    string
	}{
		{"np=0", 0, []string{"true"}, exitcode.Usage, "np is 0, want 1 or more"},
		{"program=none", 1, nil, exitcode.Usage, "program is missing"},
		{"program=unknown", 1, []string{"no-such-program-anywhere"}, exitcode.NotFound, "program no-such-program-anywhere: not found in PATH"},
		{"program=no such path", 1, []string{dir + "/none"}, exitcode.NotFound, "no such file"},
		{"program=not executable", 1, []string{plain}, exitcode.NotRunnable, "permission denied"},
		{"program=a folder", 1, []string{dir}, exitcode.NotRunnable, "directory"},
		{"program=not a program", 2, []string{script}, exitcode.NotRunnable, "exec format error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Run(t.Context(), Config{NP: tt.np, Program: tt.program})
			if got := exitcode.Of(err); got != tt.code || err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v with code %d, want %q with code %d", err, got, tt.text, tt.code)
			}
		})
	}
}

// startLauncher runs a launcher of two ranks in a process of its own.
func startLauncher(t *testing.T, input string, env []string, args ...string) (*exec.Cmd, *console) {
	t.Helper()
	out := newConsole()
	cmd := exec.Command(os.Args[0], append([]string{"launcher"}, args...)...)
	cmd.Env = append(append(os.Environ(), testProgram+"=1", fastRace), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, out
}

// TestLauncherInput verifies that rank 0 alone reads the launcher's standard input.
func TestLauncherInput(t *testing.T) {
	t.Parallel()
	cmd, out := startLauncher(t, "hello", nil, "echo")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"[0] rank 0 read hello\n", "[1] rank 1 read \n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out)
		}
	}
}

// TestRunLeavesNothing verifies that Run leaves no goroutines and no guard after a good
// end.
func TestRunLeavesNothing(t *testing.T) {
	before := childrenOf(t, os.Getpid())
	ignore := goleak.IgnoreCurrent()
	if _, err := Run(t.Context(), Config{NP: 3, Program: []string{"true"}}); err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t, ignore)
	if after := childrenOf(t, os.Getpid()); len(after) != len(before) {
		t.Errorf("children are %v, were %v", after, before)
	}
}
