package launch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// What tells a guard from other uses of the same program.
const (
	guardArgument = "launch-guard"
	guardVariable = "RINGTRAIN_LAUNCH_GUARD"
)

// guardGrace is the time between TERM and KILL for ranks whose launcher is
// dead. Their rendezvous died with it: they can only end.
const guardGrace = 2 * time.Second

// IsGuard tells whether this process is the guard of a launcher. If it is,
// main must end with the code of Guard at once.
func IsGuard() bool {
	return len(os.Args) == 2 && os.Args[1] == guardArgument && os.Getenv(guardVariable) == "1"
}

// Guard reads on standard input which process groups the launcher starts
// ("+ID") and which have ended ("-ID"), until the launcher closes the pipe or
// dies. Groups that are left then get TERM, and KILL two seconds later. It
// returns the exit code.
func Guard() int {
	// Whoever tells all processes of this name to end means the launcher.
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	left := readGroups(os.Stdin)
	for id := range left {
		signalGroup(id, syscall.SIGTERM)
	}
	waitUntil(func() bool {
		for id := range left {
			if groupEmpty(id) {
				delete(left, id)
			}
		}
		return len(left) == 0
	}, guardGrace)
	for id := range left {
		signalGroup(id, syscall.SIGKILL)
	}
	return 0
}

// readGroups returns the groups that are still there at the end of r.
func readGroups(r io.Reader) map[int]bool {
	left := map[int]bool{}
	for s := bufio.NewScanner(r); s.Scan(); {
		id, err := strconv.Atoi(s.Text())
		switch {
		case err != nil:
		case id > 1: // 0 and 1 would mean everybody
			left[id] = true
		default:
			delete(left, -id)
		}
	}
	return left
}

// guard is the launcher's end of its guard process.
type guard struct {
	cmd  *exec.Cmd
	pipe *os.File
}

func startGuard() (*guard, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	defer r.Close()
	// It holds nothing of the launcher's: no output, no folder, no token.
	cmd := exec.Command(self, guardArgument)
	cmd.Env, cmd.Dir, cmd.Stdin = []string{guardVariable + "=1"}, "/", r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("guard: %w", err)
	}
	return &guard{cmd, w}, nil
}

// watch tells the guard of a process group.
func (g *guard) watch(id int) error {
	if _, err := fmt.Fprintf(g.pipe, "+%d\n", id); err != nil {
		return fmt.Errorf("guard process %d is gone: %w", g.cmd.Process.Pid, err)
	}
	return nil
}

// forget tells the guard that a process group has ended.
func (g *guard) forget(id int) {
	fmt.Fprintf(g.pipe, "-%d\n", id) // a guard that is gone has nothing to forget
}

// end waits until the guard has ended what is left, if anything is.
func (g *guard) end() error {
	late := time.AfterFunc(guardGrace+settling, func() { g.cmd.Process.Kill() })
	defer late.Stop()
	return errors.Join(g.pipe.Close(), g.cmd.Wait())
}
