package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/token"
)

// The users of these tests. No account has these numbers, and no other run of the tests.
func ownerUID() int    { return 1_000_000 + 2*os.Getpid() }
func strangerUID() int { return ownerUID() + 1 }

// asUser is the box of a user.
type asUser struct {
	*box
	uid     int
	program string // a copy of this binary that all may run
}

func newUser(t *testing.T, uid int) *asUser {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be two users")
	}
	u := &asUser{box: newBox(t), uid: uid}
	u.program = openToAll(t, u.box)
	for _, dir := range []string{u.dir, u.home} {
		if err := os.Chown(dir, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	for _, runtime := range runtimeFolders(uid) {
		if err := os.RemoveAll(runtime); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(runtime) })
	}
	return u
}

// runtimeFolders are the folders that ringtrain uses for a user, the first that it can.
func runtimeFolders(uid int) []string {
	return []string{fmt.Sprintf("/tmp/ringtrain-%d", uid), fmt.Sprintf("/dev/shm/ringtrain-%d", uid)}
}

// line returns the command line that runs argv as the user.
func (u *asUser) line(argv ...string) []string {
	id := strconv.Itoa(u.uid)
	return append([]string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--"}, argv...)
}

// starts starts ringtrain as the user.
func (u *asUser) starts(args ...string) *testProcess {
	u.Helper()
	line := u.line(append([]string{u.program}, args...)...)
	return u.startProgram(line[0], line[1:]...)
}

// in returns the user with additional variables.
func (u *asUser) in(env ...string) *asUser {
	c := *u
	c.box = u.with(env...)
	return &c
}

// TestAttackOtherUser verifies that another user of the host, who has no token, gets nothing of a
// job on loopback: no place in it, no status, no token file, no environment, and that the job goes
// on.
func TestAttackOtherUser(t *testing.T) {
	attacks(t)
	a, b := newUser(t, ownerUID()), newUser(t, strangerUID())
	job := a.starts(append([]string{"run", "-np", "2", "--json", "--job-id", "mine"}, endless("--set", "checkpoint.dir=", "--set", "export.savedmodel=")...)...)
	at := job.meetingPlace()
	job.await(`"event":"step"`)
	pids := []int{a.rankPID(0), a.rankPID(1)}

	if e := b.starts("status", at, "--json").wait(); e.code != 77 || strings.Contains(e.stdout, "mine") {
		t.Errorf("status for another user: code %d, want 77\n%s%s", e.code, e.stdout, e.stderr)
	}
	_, port, _ := strings.Cut(at, ":")
	number, _ := strconv.Atoi(port)
	join := b.in(rankVariables(1, 2, number)...).starts(append([]string{"train", "--job-id", "mine", "--start-timeout", "5s"}, endless()...)...)
	if e := join.wait(); e.code != 77 {
		t.Errorf("join of another user: code %d, want 77\n%s", e.code, e.stderr)
	}
	for _, pid := range pids {
		for _, file := range []string{"environ", "maps", "mem"} {
			b.wantUnreadable(fmt.Sprintf("/proc/%d/%s", pid, file))
		}
		if name := variable(a.processes()[pid], "RINGTRAIN_TOKEN_FILE"); name == "" {
			t.Errorf("process %d has no token file", pid)
		} else {
			b.wantUnreadable(name)
		}
	}
	if got := []int{a.rankPID(0), a.rankPID(1)}; !slices.Equal(got, pids) {
		t.Errorf("processes %v, want %v of the start", got, pids)
	}
	job.stepAfter(t, time.Now())
	job.signal(syscall.SIGTERM)
	if e := job.wait(); e.code != 143 || strings.Contains(e.stdout, `"event":"generation"`) {
		t.Errorf("the job ended with %d, want 143 and one generation\n%s%s", e.code, e.stdout, e.stderr)
	}
}

// wantUnreadable verifies that the user cannot read a file that exists.
func (u *asUser) wantUnreadable(name string) {
	u.Helper()
	if _, err := os.Stat(name); err != nil {
		u.Errorf("%v: nothing is shown", err)
	}
	line := u.line("head", "-c", "1", name)
	if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err == nil || !strings.Contains(string(out), "Permission denied") {
		u.Errorf("user %d reads %s: %v\n%q", u.uid, name, err, out)
	}
}

// variable returns a variable of the environment of a process.
func variable(env []byte, name string) string {
	m := regexp.MustCompile(`\x00` + name + `=([^\x00]*)\x00`).FindSubmatch(env)
	if m == nil {
		return ""
	}
	return string(m[1])
}

// TestAttackLocalToken verifies that ranks on loopback without a token meet if they belong to one
// user, and that a rank of another user in the same place is refused, which the waiting rank tells
// without a rank's number.
func TestAttackLocalToken(t *testing.T) {
	attacks(t)
	a, b := newUser(t, ownerUID()), newUser(t, strangerUID())
	port := freePorts(t, 1)[0]
	job := append([]string{"train"}, digits(20, "--set", "checkpoint.dir=", "--set", "export.savedmodel=")...)
	first := a.in(rankVariables(0, 2, port)...).starts(job...)
	theirs := b.in(rankVariables(1, 2, port)...).starts(append(job, "--start-timeout", "10s")...)
	e := theirs.wait()
	if !regexp.MustCompile(`127\.0\.0\.1:\d+ has another token \([0-9a-f]{8}, here [0-9a-f]{8}\)`).MatchString(e.stderr) || e.code != 77 {
		t.Errorf("the other user's rank ended with %d, want 77 and both token ids\n%s", e.code, e.stderr)
	}
	said := regexp.MustCompile(`not heard of; 127\.0\.0\.1 came \d+ times with another token \([0-9a-f]{8}\)`)
	if text := first.stderr.String(); !said.MatchString(text) {
		t.Errorf("the waiting rank does not tell of the other token:\n%s", text)
	}
	second := a.in(rankVariables(1, 2, port)...).starts(job...)
	for rank, p := range []*testProcess{first, second} {
		if e := p.wait(); e.code != 0 {
			t.Errorf("rank %d ended with %d\n%s", rank, e.code, e.stderr)
		}
	}
}

// TestAttackOtherUserWithToken verifies that a rank of another user, who has the token, gets no
// memory of a rank on the same host.
func TestAttackOtherUserWithToken(t *testing.T) {
	attacks(t)
	a, b := newUser(t, ownerUID()), newUser(t, strangerUID())
	port, key := freePorts(t, 1)[0], newToken()
	job := append([]string{"train", "--start-timeout", "20s"}, digits(20, "--set", "checkpoint.dir=", "--set", "export.savedmodel=")...)
	ranks := []*testProcess{a.in(append(rankVariables(0, 2, port), key)...).starts(job...), b.in(append(rankVariables(1, 2, port), key)...).starts(job...)}
	said := fmt.Sprintf("uid is (%d, want %d|%d, want %d): give one uid, or --host-id", ownerUID(), strangerUID(), strangerUID(), ownerUID())
	for rank, p := range ranks {
		if e := p.wait(); e.code != 64 || !regexp.MustCompile(said).MatchString(e.last()) {
			t.Errorf("rank %d ended with %d and %q, want 64 and %s", rank, e.code, e.last(), said)
		}
	}
}

// TestAttackBareHost verifies that a user without a home trains on a read-only file system, also if
// another user has made the runtime folder, and what is said if there is no other.
func TestAttackBareHost(t *testing.T) {
	attacks(t)
	for _, tt := range []struct {
		name    string
		foreign int // runtime folders that belong to another user
		readyRO string
		code    int
		says    string
	}{
		{"none is foreign", 0, "", 0, ""},
		{"/tmp is foreign", 1, "", 0, ""},
		{"both are foreign", 2, "", 77, `/tmp/ringtrain-\d+ belongs to uid \d+, want \d+: set RINGTRAIN_TOKEN_FILE`},
		{"none can be made", 0, "mount -o remount,bind,ro /dev/shm &&", 73, `/tmp/ringtrain-\d+.*/dev/shm/ringtrain-\d+`},
	} {
		t.Run("case="+strings.ReplaceAll(tt.name, " ", "_"), func(t *testing.T) {
			u := newUser(t, ownerUID())
			for _, dir := range runtimeFolders(ownerUID())[:tt.foreign] {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Chown(dir, strangerUID(), strangerUID()); err != nil {
					t.Fatal(err)
				}
			}
			port := freePorts(t, 1)[0]
			job := append([]string{"train"}, digits(20, "--set", "checkpoint.dir=", "--set", "export.savedmodel=", "--start-timeout", "20s")...)
			for rank, p := range u.onReadOnly(tt.readyRO, port, job) {
				if e := p.wait(); e.code != tt.code || !regexp.MustCompile(tt.says).MatchString(e.stderr) {
					t.Errorf("rank %d ended with %d, want %d and %q\n%s", rank, e.code, tt.code, tt.says, e.stderr)
				}
			}
			if tt.code == 0 {
				run := u.readOnly(tt.readyRO, append([]string{"run", "-np", "2"}, job[1:]...))
				if e := u.startProgram(run[0], run[1:]...).wait(); e.code != 0 {
					t.Errorf("run ended with %d\n%s", e.code, e.stderr)
				}
			}
		})
	}
}

// readOnly returns the command line of ringtrain as the user without a home, with a mount namespace
// in which the root is read-only.
func (u *asUser) readOnly(more string, args []string) []string {
	script := "mount -o remount,bind,ro / && " + more + ` unset HOME TMPDIR && exec "$@"`
	return append([]string{"unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"},
		u.line(append([]string{u.program}, args...)...)...)
}

func (u *asUser) onReadOnly(more string, port int, job []string) []*testProcess {
	u.Helper()
	var ranks []*testProcess
	for rank := range 2 {
		line := u.readOnly(more, job)
		ranks = append(ranks, u.with(rankVariables(rank, 2, port)...).startProgram(line[0], line[1:]...))
	}
	return ranks
}

// TestAttackSecret searches the digits and the bytes of a token that `run` drew or read from a file.
// It verifies that they are in no environment and no command line of any process, and in nothing
// that a job writes.
func TestAttackSecret(t *testing.T) {
	attacks(t)
	job := endless("--json", "--set", "checkpoint.every=20", "--set", "log.every=100")
	t.Run("token=drawn", func(t *testing.T) {
		b := newBox(t)
		wantSecret(t, b, b.start(append([]string{"run", "-np", "2", "--output-dir", "out"}, job...)...), true)
	})
	t.Run("token=file", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "token") // apart from what is searched
		if err := token.New().WriteFile(name, false); err != nil {
			t.Fatal(err)
		}
		b := newBox(t).with("RINGTRAIN_TOKEN_FILE=" + name)
		wantSecret(t, b, b.start(append([]string{"run", "-np", "2", "--output-dir", "out"}, job...)...), false)
	})
	t.Run("token=drawn/hosts=2", func(t *testing.T) {
		c := clusterOf(t, newHosts(t, 2, ""), 2)
		wantSecret(t, c.box, c.launch(map[int]int{0: 1, 1: 1}, append([]string{"--output-dir", "out"}, job...)...), true)
	})
}

// wantSecret verifies that the token of a job is in the file of a rank alone, which goes with the job
// if it was drawn.
func wantSecret(t *testing.T, b *box, p *testProcess, drawn bool) {
	t.Helper()
	p.await(`"event":"checkpoint"`)
	name := variable(b.processes()[b.rankPID(1)], "RINGTRAIN_TOKEN_FILE")
	if name == "" {
		p.signal(syscall.SIGTERM)
		p.wait()
		t.Fatal("rank 1 has no token file")
	}
	if mode := fileMode(t, name); mode != 0o600 {
		t.Errorf("%s has mode %o, want 600", name, mode)
	}
	s := &search{T: t, digits: strings.TrimSpace(readFile(t, name))}
	var err error
	if s.raw, err = hex.DecodeString(s.digits); err != nil || len(s.raw) != token.Bytes {
		t.Fatalf("the token file has %q", s.digits)
	}
	s.inProcesses()
	p.signal(syscall.SIGTERM)
	e := p.wait()
	if e.code != 143 {
		t.Errorf("ended with %d\n%s", e.code, e.stderr)
	}
	s.inResults(b, e)
	t.Logf("%d environments, command lines, files and outputs were searched", s.searched)
	if _, err := os.Stat(name); drawn && err == nil {
		t.Errorf("%s is left after the job", name)
	}
}

func fileMode(t *testing.T, name string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// A search looks for a secret where it must not be.
type search struct {
	*testing.T
	digits   string
	raw      []byte
	searched int
}

func (s *search) in(where string, text []byte) {
	s.searched++
	if bytes.Contains(bytes.ToLower(text), []byte(s.digits)) || bytes.Contains(text, s.raw) {
		s.Errorf("%s has the token", where)
	}
}

// inProcesses searches the environments and the command lines of all processes.
func (s *search) inProcesses() {
	for _, kind := range []string{"environ", "cmdline"} {
		files, _ := filepath.Glob("/proc/[0-9]*/" + kind)
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil { // else the process has ended
				s.in(file, text)
			}
		}
	}
}

// inResults searches what an ended job has printed and written.
func (s *search) inResults(b *box, e ended) {
	for _, name := range b.files() {
		s.in(name, []byte(b.read(name)))
	}
	s.in("standard output", []byte(e.stdout))
	s.in("standard error", []byte(e.stderr))
}

// TestAttackCore verifies that ringtrain leaves no core with GOTRACEBACK=crash and no limit, and
// that a program under `run` keeps the user's limit.
func TestAttackCore(t *testing.T) {
	attacks(t)
	if pattern := readFile(t, "/proc/sys/kernel/core_pattern"); strings.TrimSpace(pattern) != "core" {
		t.Skipf("the kernel writes cores to %q, want core", pattern)
	}
	for _, tt := range []struct {
		name string
		args []string
		says string // when it can be killed
		rank int    // the victim, -1: the program itself
	}{
		{"train", append([]string{"train"}, endless("--set", "checkpoint.dir=")...), "step 20 ", -1},
		{"rendezvous", []string{"rendezvous", "--listen", "127.0.0.1:0", "--world-size", "2"}, "rendezvous on ", -1},
		{"rank of run", append([]string{"run", "-np", "2"}, endless("--set", "checkpoint.dir=")...), "step 20 ", 1},
	} {
		t.Run("what="+strings.ReplaceAll(tt.name, " ", "_"), func(t *testing.T) {
			t.Parallel() // the dump of all goroutines waits for seconds
			b := newBox(t).with("GOTRACEBACK=crash")
			p := b.startProgram("prlimit", append([]string{"--core=unlimited", self(b)}, tt.args...)...)
			p.killed = true // it ends by a signal
			p.await(tt.says)
			victim := p.cmd.Process.Pid
			if tt.rank >= 0 {
				victim = b.rankPID(tt.rank)
			}
			kill(t, victim, syscall.SIGABRT)
			<-p.ended
			if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.CoreDump() {
				t.Error("it dumped its core")
			}
			for _, name := range b.files() {
				if strings.HasPrefix(filepath.Base(name), "core") {
					t.Errorf("it left %s", name)
				}
			}
		})
	}
	t.Run("what=program_of_run", func(t *testing.T) {
		b := newBox(t)
		e := b.startProgram("prlimit", "--core=unlimited", self(b), "run", "-np", "1", "sh", "-c", "ulimit -c").wait()
		if e.code != 0 || !strings.Contains(e.stdout, "unlimited") {
			t.Errorf("a program under run has the limit %q, want unlimited\n%s", e.stdout, e.stderr)
		}
	})
}
