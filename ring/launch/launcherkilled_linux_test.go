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

	"golang.org/x/sys/unix"
)

// TestLauncherKilled verifies that SIGKILL of the launcher leaves no rank, no child that
// ignores TERM, and no guard.
func TestLauncherKilled(t *testing.T) {
	t.Parallel()
	cmd, out := startLauncher(t, "", nil, "parent", "wait")
	pids := out.pids(t, 4) // 2 ranks and the child of each
	children := childrenOf(t, cmd.Process.Pid)
	if len(children) != 3 {
		t.Fatalf("the launcher has the children %v, want 2 ranks and the guard", children)
	}
	cmd.Process.Kill()
	start := time.Now()
	for _, pid := range append(pids, children...) {
		awaitEnd(t, pid)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("the last process ended after %v, want 5 s or less", took)
	}
}

// TestLauncherAndGuardKilled verifies that ranks end when the launcher and the guard are
// killed together, as by killall -9.
func TestLauncherAndGuardKilled(t *testing.T) {
	t.Parallel()
	cmd, out := startLauncher(t, "", nil, "wait")
	ranks := out.pids(t, 2)
	guards := 0
	for _, pid := range childrenOf(t, cmd.Process.Pid) {
		if !slices.Contains(ranks, pid) {
			guards++
			if sid, err := unix.Getsid(pid); sid != pid { // Ctrl-C and SIGHUP would end a guard of this session
				t.Errorf("the guard, process %d, is in session %d (%v), want its own", pid, sid, err)
			}
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if guards != 1 {
		t.Errorf("%d guards found, want 1", guards)
	}
	cmd.Process.Kill()
	for _, pid := range ranks {
		awaitEnd(t, pid)
	}
}

func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var pids []int
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(s)
			pids = append(pids, child)
		}
	}
	return pids
}
