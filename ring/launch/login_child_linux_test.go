package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/exitcode"
)

// forkingSSH is fakeSSH as a script such as kubexec.sh runs it: it starts the login as a child,
// and its own process stays. Hosts that hold also have a process in a session of its own that
// keeps the pipes of the login. pids has the processes of all logins.
func forkingSSH(t *testing.T) (ssh, pids string) {
	t.Helper()
	real := fakeSSH(t)
	dir := t.TempDir()
	ssh, pids = filepath.Join(dir, "ssh"), filepath.Join(dir, "pids")
	script := `#!/bin/sh
pids=` + pids + `
echo $$ >>$pids
case "$*" in
*"-- fails"*) sh -c 'echo $$ >>'$pids'; exec sleep 1000' & exit 5;;
*"-- stuck"*agent*) exit 127;;
*"-- stuck"*) sh -c 'echo $$ >>'$pids'; exec sleep 1000'; exit;;
*"-- hold"*) setsid sh -c 'echo $$ >'$pids.held'; exec sleep 1000' & sh -c 'echo $$ >>'$pids'; exec sleep 1000'; exit;;
esac
sh -c 'echo $$ >>'$pids'; exec "$@"' sh ` + real + ` "$@"
true
`
	if err := os.WriteFile(ssh, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, pid := range readPIDs(pids + ".held") {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return ssh, pids
}

func readPIDs(name string) (all []int) {
	text, _ := os.ReadFile(name)
	for word := range strings.FieldsSeq(string(text)) {
		pid, _ := strconv.Atoi(word)
		all = append(all, pid)
	}
	return all
}

// TestLoginIsAChild verifies for programs in the place of ssh that start the login as a child
// that the start's timeout and a signal hold, while a host is silent, during a push and for a host
// behind another one, that a job runs and is stopped, and that no process of a login is left.
func TestLoginIsAChild(t *testing.T) {
	t.Parallel()
	soon := func(c *Config) { c.StartTimeout = time.Second }
	for _, tt := range []struct {
		name, hosts string
		change      func(*Config)
		signal      syscall.Signal // 0: none
		code        int
		want        string
	}{
		{"host=silent", "slow:1,b:1", soon, 0, exitcode.Retry, "host slow cannot be reached: no answer in 1s"},
		{"host=silent, stopped", "slow:1,b:1", nil, syscall.SIGINT, 130, "stopped by signal 2 (interrupt) before all hosts had answered"},
		{"host=silent, terminated", "slow:1", nil, syscall.SIGTERM, 143, "stopped by signal 15 (terminated) before all hosts had answered"},
		{"push=silent", "stuck:1", func(c *Config) { c.Push, c.StartTimeout = true, 2*time.Second }, 0, exitcode.Retry, "host stuck cannot be reached: no answer in 2s"},
		{"login=failed, and a child holds its pipe", "fails:1", nil, 0, exitcode.Retry, "host fails: the agent did not start (exit code 5)"},
		{"pipe=held by a process of another session", "hold:1", soon, 0, exitcode.Retry, "host hold cannot be reached: no answer in 1s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ssh, pids := forkingSSH(t)
			j := startRemote(t, tt.hosts, func(c *Config) {
				c.SSH = []string{ssh}
				if tt.change != nil {
					tt.change(c)
				}
			}, "wait")
			if tt.signal != 0 {
				eventually(func() bool { return len(readPIDs(pids)) > 1 }, patience)
				j.signals <- tt.signal
			}
			j.wait(t)
			if exitcode.Of(j.fault) != tt.code || !strings.HasPrefix(fmt.Sprint(j.fault), tt.want) {
				t.Errorf("error %v with code %d, want %q with code %d", j.fault, exitcode.Of(j.fault), tt.want, tt.code)
			}
			wantNoneLeft(t, pids)
		})
	}
	t.Run("push=the script loses exit codes", func(t *testing.T) {
		t.Parallel()
		ssh, pids := forkingSSH(t)
		j := startRemote(t, "a:1", func(c *Config) { c.SSH, c.Push = []string{ssh}, true }, "exit", "0")
		if r := j.wait(t); r.Code != 0 || j.fault != nil {
			t.Errorf("result %+v, error %v, want that the program was pushed and run", r, j.fault)
		}
		wantNoneLeft(t, pids)
	})
	t.Run("job=stopped", func(t *testing.T) {
		t.Parallel()
		ssh, pids := forkingSSH(t)
		j := startRemote(t, "a:1,b:1,c:1", func(c *Config) { c.SSH = []string{ssh} }, "wait")
		j.out.pids(t, 3)
		j.signals <- syscall.SIGTERM
		if r := j.wait(t); r.Code != 143 || j.fault != nil {
			t.Errorf("result %+v, error %v, want 143", r, j.fault)
		}
		wantNoneLeft(t, pids)
	})
}

// wantNoneLeft verifies that the processes of the logins end.
func wantNoneLeft(t *testing.T, pids string) {
	t.Helper()
	all := readPIDs(pids)
	if len(all) < 2 {
		t.Fatalf("processes of the logins are %v, want a script and its child", all)
	}
	for _, pid := range all {
		if !eventually(func() bool { return syscall.Kill(pid, 0) != nil }, patience) {
			t.Errorf("process %d of a login is left", pid)
		}
	}
}
