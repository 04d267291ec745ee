package launch

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRemotePause sends the launcher SIGTSTP and SIGCONT. It verifies that ranks here and
// on other hosts stop and go on, also one behind another host.
func TestRemotePause(t *testing.T) {
	t.Parallel()
	j := startRemote(t, "localhost:1,b:1,c:1", func(c *Config) { c.Fanout = 1 }, "wait")
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
