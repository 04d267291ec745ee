package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/ringtest"
	"ringtrain/ring/token"
)

// fakeSSH is a program that takes ssh's command line and runs the host's line
// here, in a fresh environment as after a login. Hosts named after a fault have
// it. In its folder are the file logins (from where, process, command line) and
// each host's home; a file HOST.down makes that host one that cannot be reached.
func fakeSSH(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "ssh")
	script := `#!/bin/sh
dir="` + filepath.Dir(name) + `"
echo "${FAKE_HOST:-launcher} $$ $*" >>"$dir/logins"
while test "$1" != --; do shift; done
case $2 in
down*) echo "ssh: connect to host $2 port 22: No route to host" >&2; exit 255;;
empty) exit 127;;
slow|silent*) exec sleep 1000;;
chatty) echo "Welcome! You have new mail.";;
esac
if test -e "$dir/$2.down"; then echo "ssh: connect to host $2 port 22: No route to host" >&2; exit 255; fi
case $FAKE_HOST in
shy*) echo "$2: Permission denied (publickey)." >&2; exit 255;;
esac
mkdir -p "$dir/$2"
exec env -i PATH="$PATH" HOME="$dir/$2" FAKE_HOST="$2" RINGTRAIN_TOKEN=login SSH_CONNECTION="192.0.2.1 1 192.0.2.2 22" ` + testProgram + `=1 ` + fastRace + ` sh -c "$3"
`
	if err := os.WriteFile(name, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

// startRemote is startJob on the hosts that names lists.
func startRemote(t *testing.T, names string, change func(*Config), args ...string) *job {
	t.Helper()
	list, err := hosts.Parse(names)
	if err != nil {
		t.Fatal(err)
	}
	ssh := fakeSSH(t)
	return startJob(t, hosts.TotalSlots(list), func(c *Config) {
		c.Hosts, c.SSH, c.Version = list, []string{ssh}, "test"
		if change != nil {
			change(c)
		}
	}, args...)
}

// TestRemoteStartStopped verifies that SIGINT ends a start that waits for a host.
func TestRemoteStartStopped(t *testing.T) {
	t.Parallel()
	j := startRemote(t, "slow:1,b:1", nil, "wait")
	j.signals <- syscall.SIGUSR1 // SIGUSR1 is not a request to end
	j.signals <- syscall.SIGINT
	j.wait(t)
	if want := "stopped by signal 2 (interrupt) before all hosts had answered"; exitcode.Of(j.fault) != 130 || j.fault.Error() != want {
		t.Errorf("error %v with code %d, want %q with code 130", j.fault, exitcode.Of(j.fault), want)
	}
}

// TestRemoteRude verifies that frames about ranks that were not started end the start with
// an error.
func TestRemoteRude(t *testing.T) {
	t.Parallel()
	for _, kind := range []byte{kindEnded, kindCleared, kindFault} {
		t.Run(fmt.Sprintf("frame=%c", kind), func(t *testing.T) {
			t.Parallel()
			host := fmt.Sprintf("rude%c", kind)
			j := startRemote(t, host+":1,slow:1", nil, "wait")
			j.wait(t)
			if want := "host " + host + ": agent tells of rank 0, which was not started yet"; exitcode.Of(j.fault) != exitcode.Protocol || j.fault.Error() != want {
				t.Errorf("error %v with code %d, want %q with code %d", j.fault, exitcode.Of(j.fault), want, exitcode.Protocol)
			}
		})
	}
}

// TestRemoteTellsPlace verifies the environment of ranks on other hosts.
func TestRemoteTellsPlace(t *testing.T) {
	t.Parallel()
	secret := token.New()
	j := startRemote(t, "localhost:1,b:1,chatty:1", func(c *Config) {
		c.JobID, c.Token.Token = "j1", secret
		c.Env = append(c.Env, "FOO=bar", "RINGTRAIN_DATA=/d", "RINGTRAIN_TOKEN="+secret.Reveal(), "RINGTRAIN_TOKEN_FILE=other")
		c.Export = []string{"BAZ=1 2", "RINGTRAIN_TOKEN=exported"}
	}, "place")
	if r := j.wait(t); j.fault != nil || r.Code != 0 {
		t.Fatalf("result %+v, error %v\n%s%s", r, j.fault, j.out, j.err)
	}
	lines := strings.Split(j.out.String(), "\n")
	dir, _ := os.Getwd()
	for rank := range 3 {
		for _, want := range []string{
			fmt.Sprint("RINGTRAIN_RANK=", rank), "RINGTRAIN_WORLD_SIZE=3", "RINGTRAIN_LOCAL_RANK=0", "RINGTRAIN_LOCAL_SIZE=1",
			fmt.Sprint("RANK=", rank), "WORLD_SIZE=3", "LOCAL_RANK=0", "LOCAL_WORLD_SIZE=1", "RINGTRAIN_DATA=/d", "BAZ=1 2",
			"RINGTRAIN_JOB_ID=j1", "PWD=" + dir,
		} {
			if !slices.Contains(lines, fmt.Sprintf("[%d] %s", rank, want)) {
				t.Errorf("rank %d lacks %s", rank, want)
			}
		}
		if has := slices.Contains(lines, fmt.Sprintf("[%d] FOO=bar", rank)); has != (rank == 0) {
			t.Errorf("rank %d has FOO: %v, want it on the launcher's host alone", rank, has)
		}
	}
	j.checkToken(t, 3)
}

// TestRemoteWholeLines verifies that the output of ranks on other hosts arrives complete,
// in whole lines.
func TestRemoteWholeLines(t *testing.T) {
	t.Parallel()
	for _, hosts := range []string{"a:2,b:2", "a:1,b:1,c:1,d:1"} {
		t.Run("hosts="+hosts, func(t *testing.T) {
			t.Parallel()
			testWholeLines(t, hosts)
		})
	}
}

func testWholeLines(t *testing.T, hosts string) {
	const n = 5000 // more than a window
	dir := t.TempDir()
	j := startRemote(t, hosts, func(c *Config) { c.OutputDir = dir }, "chatter", strconv.Itoa(n))
	j.wait(t)
	if got := strings.Count(j.out.String(), "\n"); got != 4*(n+1) || j.out.torn {
		t.Errorf("%d lines, want %d; torn: %v", got, 4*(n+1), j.out.torn)
	}
	for rank := range 4 {
		var want strings.Builder
		for i := range n {
			fmt.Fprintf(&want, "line %d of rank %d\n", i, rank)
		}
		for name, end := range map[string]string{"stdout": "the end", "stderr": ""} {
			got, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("rank.%d", rank), name))
			if err != nil || string(got) != want.String()+end {
				t.Errorf("file %s of rank %d has %d bytes, error %v, want %d", name, rank, len(got), err, want.Len()+len(end))
			}
		}
	}
}

// TestRemoteFirstFailure verifies that the result names the first rank that fails and its
// host, and that the other ranks end.
func TestRemoteFirstFailure(t *testing.T) {
	t.Parallel()
	j := startRemote(t, "localhost:1,b:2", nil, "exit", "-,-,65")
	r := j.wait(t)
	if r.Code != 65 || r.Rank != 2 || r.Host != "b" || !strings.HasPrefix(r.Text, "rank 2 on host b (pid ") {
		t.Errorf("result is %+v, want code 65 of rank 2 on host b", r)
	}
	if got := strings.Count(j.out.String(), "got 15"); got != 2 {
		t.Errorf("%d of 2 ranks were told to end:\n%s", got, j.out)
	}
	if want := []string{"2: process PID on host b ended with exit code 65: 138"}; !slices.Equal(j.server.lost, want) {
		t.Errorf("rendezvous was told %q, want %q", j.server.lost, want)
	}
}

// TestRemoteSignals verifies that signals reach ranks on other hosts.
func TestRemoteSignals(t *testing.T) {
	t.Parallel()
	j := startRemote(t, "a:1,b:1", nil, "wait")
	j.out.pids(t, 2)
	j.signals <- syscall.SIGTERM
	if r := j.wait(t); r.Code != 143 || j.fault != nil {
		t.Errorf("result is %+v, error %v, want code 143", r, j.fault)
	}
	if got := strings.Count(j.out.String(), "got 15\n"); got != 2 {
		t.Errorf("%d of 2 ranks got the signal:\n%s", got, j.out)
	}
	if j.server.stop != 143 {
		t.Errorf("the rendezvous was told to stop with %d, want 143", j.server.stop)
	}
}

// TestRemoteStubborn verifies that ranks on other hosts that ignore TERM are killed.
func TestRemoteStubborn(t *testing.T) {
	t.Parallel()
	j := startRemote(t, "a:1,b:1", nil, "stubborn")
	pids := j.out.pids(t, 2)
	j.hurry(syscall.SIGINT)
	if r := j.wait(t); r.Code != 130 {
		t.Errorf("result is %+v, want code 130", r)
	}
	for _, pid := range pids {
		awaitEnd(t, pid)
	}
}

// TestRemoteHostLost verifies that the result names a lost host, and that its ranks end.
func TestRemoteHostLost(t *testing.T) {
	t.Parallel()
	j := startRemote(t, "localhost:1,b:1", nil, "wait")
	remote := j.out.pidOf(t, 1)
	agent := parentOf(t, remote)
	syscall.Kill(agent, syscall.SIGKILL)
	r := j.wait(t)
	if r.Code != 138 || r.Rank != 1 || !strings.HasPrefix(r.Text, "rank 1 on host b is lost: ssh ended with exit code") {
		t.Errorf("result is %+v, want host b named", r)
	}
	awaitEnd(t, remote)
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

// TestRemoteRefuses verifies the error and the exit code of each kind of host that cannot
// run ranks, and that no rank starts.
func TestRemoteRefuses(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	os.WriteFile(plain, nil, 0o644)
	nobody := ringtest.RefusedAddress(t)
	tests := []struct {
		name, hosts string
		change      func(*Config)
		code        int
		texts       []string
	}{
		{"host=down", "localhost:1,down:1,b:1", nil, exitcode.Retry, []string{"host down cannot be reached: ssh: connect to host down port 22: No route to host"}},
		{"host=without ringtrain", "empty:1,b:1", nil, exitcode.NotFound, []string{"ringtrain: not found on host empty, neither at /", " nor in the PATH that ssh gives there: install it there, or give --push"}},
		{"hosts=all that fail", "empty:1,down:1", nil, 0, []string{"on host empty", "host down"}},
		{"host=silent", "b:1,slow:1", func(c *Config) { c.StartTimeout = 300 * time.Millisecond }, exitcode.Retry, []string{"host slow cannot be reached: no answer in 300ms"}},
		{"version=another", "b:1", func(c *Config) { c.Version = "other" }, exitcode.Protocol, []string{"host b: ringtrain there is version test, here it is other: give --push"}},
		{"wdir=missing", "b:1", func(c *Config) { c.Dir = "/no/such/folder" }, exitcode.Usage, []string{"host b: --wdir is /no/such/folder, want a folder that is there"}},
		{"launcher=unreachable", "b:1", func(c *Config) { c.Reach = []string{nobody} }, exitcode.Retry, []string{"host b: cannot reach the launcher: dial tcp " + nobody + ": connect: connection refused"}},
		{"program=unknown", "b:1", func(c *Config) { c.Program = []string{"no-such-program-anywhere"} }, exitcode.NotFound, []string{"start rank 0: host b: program no-such-program-anywhere: not found in PATH"}},
		{"program=not executable", "b:1", func(c *Config) { c.Program = []string{plain} }, exitcode.NotRunnable, []string{"host b: program " + plain + ": permission denied"}},
		{"ssh=missing", "b:1", func(c *Config) { c.SSH = []string{"no-such-ssh"} }, exitcode.NotFound, []string{"program no-such-ssh: not found in PATH"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := startRemote(t, tt.hosts, tt.change, "wait")
			j.wait(t)
			if got := exitcode.Of(j.fault); tt.code != 0 && got != tt.code {
				t.Errorf("error %v with code %d, want code %d", j.fault, got, tt.code)
			}
			for _, text := range tt.texts {
				if j.fault == nil || !strings.Contains(j.fault.Error(), text) {
					t.Errorf("error %v, want %q in it", j.fault, text)
				}
			}
			if j.out.String() != "" {
				t.Errorf("ranks were started:\n%s", j.out)
			}
			if got := FailedHosts(j.fault); tt.name == "hosts=all that fail" && len(got) != 2 || tt.name == "host=down" && !slices.Equal(got, []int{1}) {
				t.Errorf("failed hosts are %v of error %v", got, j.fault)
			}
		})
	}
}

// TestRemotePush verifies that a push goes only to hosts that lack the program, and that
// the pushed program is what runs.
func TestRemotePush(t *testing.T) {
	t.Parallel()
	self, err := hashSelf(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := ""
	for _, again := range []bool{false, true} {
		j := startRemote(t, "a:1,b:1", func(c *Config) {
			c.Push, c.Self = true, true
			if again {
				c.SSH[0] = filepath.Join(dir, "ssh")
			} else {
				dir = filepath.Dir(c.SSH[0])
			}
		}, "executable")
		if r := j.wait(t); r.Code != 0 || j.fault != nil {
			t.Fatalf("again=%v: result %+v, error %v", again, r, j.fault)
		}
		for rank, host := range []string{"a", "b"} {
			found, _ := filepath.Glob(filepath.Join(dir, host, ".cache/ringtrain/bin/*/*"))
			if len(found) != 1 || !strings.Contains(j.out.String(), fmt.Sprintf("[%d] %s\n", rank, found[0])) {
				t.Fatalf("again=%v host=%s: %q runs, %q are there", again, host, j.out, found)
			}
			if at := filepath.Base(filepath.Dir(found[0])); at != self.hash {
				t.Errorf("%s is not named after its hash %s", found[0], self.hash)
			}
			if copied, err := hashSelf(found[0]); err != nil || copied.hash != self.hash {
				t.Errorf("the copy has the hash %s (%v), want %s", copied.hash, err, self.hash)
			}
		}
		// Each login fails, copies, and succeeds; the second time it succeeds.
		want := slices.Concat(slices.Repeat([]string{"launcher a"}, 4), slices.Repeat([]string{"launcher b"}, 4))
		if got := j.ways(t); again && !slices.Equal(got, want) {
			t.Errorf("logins are %q, want %q", got, want)
		}
	}
}

// TestRemoteLauncherKilled verifies that SIGKILL of the launcher leaves no ranks on other
// hosts and no ssh.
func TestRemoteLauncherKilled(t *testing.T) {
	t.Parallel()
	cmd, out := startLauncher(t, "", []string{testSSH + "=" + fakeSSH(t)}, "parent", "wait")
	pids := out.pids(t, 4) // 2 ranks and the child of each
	agents := []int{parentOf(t, out.pidOf(t, 0)), parentOf(t, out.pidOf(t, 1))}
	children := childrenOf(t, cmd.Process.Pid)
	if len(children) != 3 {
		t.Fatalf("the launcher has the children %v, want two ssh and the guard", children)
	}
	cmd.Process.Kill()
	for _, pid := range slices.Concat(pids, children, agents) {
		awaitEnd(t, pid)
	}
}

// TestRestartRank verifies which endings of a rank lead to a restart.
func TestRestartRank(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		hosts  string
		server *server
		codes  []string
		starts int
		code   int
	}{
		{"host=this", "localhost:1", &server{goes: true, left: 2}, []string{"-9"}, 2, 0},
		{"host=another", "b:1", &server{goes: true, left: 2}, []string{"138", "-9"}, 3, 0},
		{"restarts=used up", "b:1", &server{goes: true, left: 2}, []string{"138", "-9", "137", "1"}, 3, 137},
		{"code=permanent", "b:1", &server{goes: true, left: 2}, []string{"138", "65"}, 2, 65},
		{"job=over", "b:1", &server{left: 2}, []string{"138"}, 1, 138},
		{"job=ended well", "b:1", &server{goes: true, over: true, left: 2}, []string{"138"}, 1, 138},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			j := startRemote(t, tt.hosts, func(c *Config) {
				c.Server, c.Restarts = tt.server, 2
			}, append([]string{"flaky", dir}, tt.codes...)...)
			if r := j.wait(t); r.Code != tt.code || j.fault != nil {
				t.Errorf("result %+v, error %v, want code %d", r, j.fault, tt.code)
			}
			if got := strings.Count(j.out.String(), "start"); got != tt.starts {
				t.Errorf("%d starts, want %d:\n%s", got, tt.starts, j.out)
			}
		})
	}
}

// TestRemoteLeavesNothing verifies that Run leaves no goroutines and no processes after a
// good end.
func TestRemoteLeavesNothing(t *testing.T) {
	before := childrenOf(t, os.Getpid())
	ignore := goleak.IgnoreCurrent()
	hosts, _ := hosts.Parse("a:2,b:1")
	c := Config{NP: 3, Program: []string{"true"}, Hosts: hosts, SSH: []string{fakeSSH(t)}, Version: "test", Env: os.Environ()}
	if r, err := Run(t.Context(), c); err != nil || r.Code != 0 {
		t.Fatal(r, err)
	}
	goleak.VerifyNone(t, ignore)
	if after := childrenOf(t, os.Getpid()); len(after) != len(before) {
		t.Errorf("children are %v, were %v", after, before)
	}
}

// TestRunTimeout verifies that a run ends after its timeout, and that its ranks dump their
// state first.
func TestRunTimeout(t *testing.T) {
	t.Parallel()
	j := startRemote(t, "localhost:1,b:1", func(c *Config) { c.Timeout = 500 * time.Millisecond }, "wait")
	if r := j.wait(t); r.Code != TimedOut || !strings.HasPrefix(r.Text, "not done after 500ms") {
		t.Errorf("result is %+v, want code 110", r)
	}
}

// TestRemotePause sends the launcher SIGTSTP and SIGCONT. It verifies that ranks here and
// on other hosts stop and go on.
func TestRemotePause(t *testing.T) {
	t.Parallel()
	j := startRemote(t, "localhost:1,b:1,c:1", nil, "wait")
	pids := []int{j.out.pidOf(t, 0), j.out.pidOf(t, 1), j.out.pidOf(t, 2)}
	all := func(state string, is bool) {
		t.Helper()
		late := time.After(10 * time.Second)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for _, pid := range pids {
			for {
				text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
				_, rest, _ := strings.Cut(string(text), ") ")
				if strings.HasPrefix(rest, state) == is {
					break
				}
				select {
				case <-tick.C:
				case <-late:
					t.Fatalf("process %d is in state %.1q, want %t for %q", pid, rest, is, state)
				}
			}
		}
	}
	j.signals <- syscall.SIGTSTP
	all("T", true)
	j.signals <- syscall.SIGCONT
	all("T", false)
	j.signals <- syscall.SIGTERM
	if r := j.wait(t); r.Code != 143 {
		t.Errorf("the job ended with %d, want 143", r.Code)
	}
}
