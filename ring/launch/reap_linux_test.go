package launch

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReapsOrphans runs a launcher that inherits orphans, as process 1 of a container does. It
// verifies that the launcher waits for a process whose parent has ended, and that it does not take
// the exit codes of its own ranks.
func TestReapsOrphans(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "reaper", "orphan")
	cmd.Env = append(os.Environ(), testProgram+"=1", fastRace)
	out := newConsole()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	for _, m := range out.await(t, `orphan (\d+)\n`, 2) {
		if !eventually(func() bool { _, err := os.Stat("/proc/" + m[1]); return err != nil }, patience) {
			t.Errorf("process %s has ended, and nobody has waited for it", m[1])
		}
	}
	for _, pid := range out.pids(t, 2) {
		syscall.Kill(pid, syscall.SIGTERM)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("the launcher ended with %d, want the ranks' 143\n%s", code, out)
	}
}

// becomeReaper has this process inherit the orphans below it.
func becomeReaper() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
