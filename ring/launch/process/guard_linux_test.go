package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/exitcode"
)

// A scribe begins guards that only write what they are told, each into a file of its own.
type scribe struct {
	dir   string
	begun int
	max   int // guards that can be started
}

func (s *scribe) begin() (*os.Process, *os.File, error) {
	if s.begun == s.max {
		return nil, nil, errors.New("no process")
	}
	s.begun++
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	notes, err := os.Create(s.file(s.begun))
	if err != nil {
		return nil, nil, err
	}
	defer notes.Close()
	cmd := exec.Command("cat")
	cmd.Stdin, cmd.Stdout = r, notes
	err = cmd.Start()
	return cmd.Process, w, err
}

func (s *scribe) file(n int) string { return filepath.Join(s.dir, fmt.Sprint(n)) }

// await returns after guard n has been told all of some lines.
func (s *scribe) await(t *testing.T, n int, lines ...string) {
	t.Helper()
	told := ""
	if !pollUntil(func() bool {
		text, _ := os.ReadFile(s.file(n))
		told = string(text)
		for _, line := range lines {
			if !strings.Contains(told, line+"\n") {
				return false
			}
		}
		return true
	}, 10*time.Second) {
		t.Fatalf("guard %d is told %q, want %q", n, told, lines)
	}
}

// asleep starts a process that waits under the guard.
func asleep(t *testing.T, g *GuardProcess) (cmd *exec.Cmd, told string) {
	t.Helper()
	cmd = exec.Command("sleep", "1000")
	if err := g.start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd, fmt.Sprintf("+%d", cmd.Process.Pid)
}

// TestGuardReplaced verifies that the successor of a killed guard is told of all groups, those
// from before and after its start.
func TestGuardReplaced(t *testing.T) {
	s := &scribe{dir: t.TempDir(), max: 2}
	g, err := newGuard(s.begin)
	if err != nil {
		t.Fatal(err)
	}
	_, first := asleep(t, g)
	gone, second := asleep(t, g)
	s.await(t, 1, first, second)
	g.Forget(gone.Process.Pid)
	g.guard.Kill()
	s.await(t, 2, first)
	_, third := asleep(t, g)
	s.await(t, 2, first, third)
	if text, _ := os.ReadFile(s.file(2)); strings.Contains(string(text), second+"\n") {
		t.Errorf("the second guard is told of a group that has ended: %q", text)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-g.Failed():
		t.Errorf("failed: %v", err)
	default:
	}
}

// TestGuardNotReplaced verifies the error if no other guard can be started, and if guards end
// again and again.
func TestGuardNotReplaced(t *testing.T) {
	for name, s := range map[string]*scribe{"no process": {max: 1}, fmt.Sprintf("%d have ended", maxGuards): {max: 2 * maxGuards}} {
		t.Run("why="+name, func(t *testing.T) {
			s.dir = t.TempDir()
			g, err := newGuard(s.begin)
			if err != nil {
				t.Fatal(err)
			}
			for failed := false; !failed; {
				g.mu.Lock()
				g.guard.Kill()
				g.mu.Unlock()
				select {
				case err := <-g.Failed():
					failed = true
					if exitcode.Of(err) != exitcode.Internal || !strings.Contains(err.Error(), name) {
						t.Errorf("error %v with code %d, want %q and %d", err, exitcode.Of(err), name, exitcode.Internal)
					}
				case <-time.After(sweepInterval):
				}
			}
			asleep(t, g) // and a rank that starts now is no fault of its own
			g.Close()
		})
	}
}
