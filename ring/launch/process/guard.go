package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
)

// Argument and variable that make a process of this program a guard.
const (
	guardArgument = "launch-guard"
	GuardVariable = "RINGTRAIN_LAUNCH_GUARD"
)

// GuardGrace is the time between TERM and KILL for ranks of a dead launcher. Their
// rendezvous has died with it, so they can only end.
const GuardGrace = 2 * time.Second

// reapInterval is the time between two looks for orphans that have ended.
const reapInterval = time.Second

// IsGuard reports whether this process is the guard of a launcher. If it is, main must end
// with the code of RunGuard at once.
func IsGuard() bool {
	return len(os.Args) == 2 && os.Args[1] == guardArgument && os.Getenv(GuardVariable) == "1"
}

// RunGuard reads on standard input which process groups the launcher starts ("+ID") and
// which have ended ("-ID"), until the launcher closes the pipe or dies. It then sends TERM
// to the groups that are left, and KILL after GuardGrace. It returns the exit code.
func RunGuard() int {
	// A signal to all processes of this name is meant for the launcher.
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	left := readGroups(os.Stdin)
	for id := range left {
		signalGroup(id, syscall.SIGTERM)
	}
	pollUntil(func() bool {
		for id := range left {
			if groupEmpty(id) {
				delete(left, id)
			}
		}
		return len(left) == 0
	}, GuardGrace)
	for id := range left {
		signalGroup(id, syscall.SIGKILL)
	}
	return 0
}

// readGroups returns the groups that are left at the end of r.
func readGroups(r io.Reader) map[int]bool {
	left := map[int]bool{}
	for s := bufio.NewScanner(r); s.Scan(); {
		id, err := strconv.Atoi(s.Text())
		switch {
		case err != nil:
		case id > 1: // 0 and 1 would mean all processes
			left[id] = true
		default:
			delete(left, -id)
		}
	}
	return left
}

// GuardProcess is the launcher's side of its guard process.
type GuardProcess struct {
	cmd  *exec.Cmd
	pipe *os.File
	over chan struct{} // closed by Close

	mu  sync.Mutex
	own map[int]bool // processes that this process has started and waits for
}

// StartGuard starts the guard of this process. The guard is this program with
// guardArgument.
func StartGuard() (*GuardProcess, error) {
	self, err := Self()
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	defer r.Close()
	// The guard gets no output, no folder and no token of the launcher.
	cmd := exec.Command(self, guardArgument)
	cmd.Env, cmd.Dir, cmd.Stdin = []string{GuardVariable + "=1"}, "/", r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		if errors.Is(err, fs.ErrNotExist) { // os.DevNull is
			err = exitcode.With(exitcode.NotRunnable, fmt.Errorf("%w; want /dev mounted, as in a container", err))
		}
		return nil, fmt.Errorf("guard: %w", err)
	}
	g := &GuardProcess{cmd: cmd, pipe: w, over: make(chan struct{}), own: map[int]bool{cmd.Process.Pid: true}}
	if inheritsOrphans() {
		go g.reapOrphans()
	}
	return g, nil
}

// start starts cmd, which leads a process group. The guard ends the group if this process dies.
// If only the guard is gone, start returns an error though cmd runs.
func (g *GuardProcess) start(cmd *exec.Cmd) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	g.own[cmd.Process.Pid] = true
	if _, err := fmt.Fprintf(g.pipe, "+%d\n", cmd.Process.Pid); err != nil {
		return fmt.Errorf("guard process %d is gone: %w", g.cmd.Process.Pid, err)
	}
	return nil
}

// reapOrphans waits for the processes that this process inherits, as process 1 of a container,
// when their parents end. Else they would stay as zombies. It leaves the processes of start to
// those who wait for them.
func (g *GuardProcess) reapOrphans() {
	tick := time.NewTicker(reapInterval)
	defer tick.Stop()
	for {
		select {
		case <-g.over:
			return
		case <-tick.C:
		}
		g.mu.Lock()
		for _, pid := range children() {
			if !g.own[pid] {
				syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // groupEmpty may have been first
			}
		}
		g.mu.Unlock()
	}
}

// Forget tells the guard that a process group has ended.
func (g *GuardProcess) Forget(id int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.own, id)
	fmt.Fprintf(g.pipe, "-%d\n", id) // a guard that has ended needs no message
}

// Close closes the pipe to the guard and waits until the guard has ended the groups that are
// left.
func (g *GuardProcess) Close() error {
	late := time.AfterFunc(GuardGrace+SettleTime, func() { g.cmd.Process.Kill() })
	defer late.Stop()
	close(g.over)
	return errors.Join(g.pipe.Close(), g.cmd.Wait())
}
