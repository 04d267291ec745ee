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

// maxGuards bounds the guards of a launcher. What ends a guard at once would end each other one.
const maxGuards = 10

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

// GuardProcess is the launcher's side of its guard process. A guard that ends before Close, as by
// killall -9, is replaced.
type GuardProcess struct {
	begin  func() (*os.Process, *os.File, error) // starts a guard, and returns it and the pipe to it
	over   chan struct{}                         // closed by Close
	ended  chan struct{}                         // closed when no guard runs any more
	failed chan error                            // gets why a guard could not be replaced

	mu     sync.Mutex
	guard  *os.Process
	pipe   *os.File
	closed bool
	begun  int          // number of guards so far
	own    map[int]bool // processes that this process has started and waits for: each leads a group
}

// StartGuard starts the guard of this process. The guard is this program with
// guardArgument.
func StartGuard() (*GuardProcess, error) {
	g, err := newGuard(beginGuard)
	if err == nil && inheritsOrphans() {
		go g.reapOrphans()
	}
	return g, err
}

func newGuard(begin func() (*os.Process, *os.File, error)) (*GuardProcess, error) {
	g := &GuardProcess{begin: begin, over: make(chan struct{}), ended: make(chan struct{}), failed: make(chan error, 1), begun: 1, own: map[int]bool{}}
	var err error
	if g.guard, g.pipe, err = begin(); err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	go g.keep()
	return g, nil
}

// beginGuard starts a guard process. The guard gets no output, no folder and no token of the
// launcher.
func beginGuard() (*os.Process, *os.File, error) {
	self, err := Self()
	if err != nil {
		return nil, nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	cmd := exec.Command(self, guardArgument)
	cmd.Env, cmd.Dir, cmd.Stdin = []string{GuardVariable + "=1"}, "/", r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		if errors.Is(err, fs.ErrNotExist) { // os.DevNull is
			err = exitcode.With(exitcode.NotRunnable, fmt.Errorf("%w; want /dev mounted, as in a container", err))
		}
		return nil, nil, err
	}
	return cmd.Process, w, nil
}

// keep waits for the end of the guard. It starts another one until Close.
func (g *GuardProcess) keep() {
	defer close(g.ended)
	for again := true; again; {
		state, _ := g.guard.Wait()
		again = g.replace(state)
	}
}

// replace starts another guard and tells it the groups, unless this one has ended by Close.
func (g *GuardProcess) replace(state *os.ProcessState) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.pipe.Close()
	guard, pipe, err := g.next()
	if err != nil {
		g.failed <- exitcode.With(exitcode.Internal, fmt.Errorf("the guard of the launcher has ended (%v), and another cannot be started: %w", state, err))
		return false
	}
	g.guard, g.pipe = guard, pipe
	for id := range g.own {
		fmt.Fprintf(g.pipe, "+%d\n", id)
	}
	return true
}

// next starts another guard.
func (g *GuardProcess) next() (*os.Process, *os.File, error) {
	if g.begun == maxGuards {
		return nil, nil, fmt.Errorf("%d have ended", maxGuards)
	}
	g.begun++
	return g.begin()
}

// Failed gets the error of a guard that has ended and could not be replaced. Then nobody would
// end the ranks after the death of this process.
func (g *GuardProcess) Failed() <-chan error { return g.failed }

// start starts cmd, which leads a process group. The guard ends the group if this process dies.
func (g *GuardProcess) start(cmd *exec.Cmd) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	g.own[cmd.Process.Pid] = true
	fmt.Fprintf(g.pipe, "+%d\n", cmd.Process.Pid) // the successor of a guard that has ended is told of all
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
			if !g.own[pid] && pid != g.guard.Pid {
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
	fmt.Fprintf(g.pipe, "-%d\n", id)
}

// Close closes the pipe to the guard and waits until the guard has ended the groups that are
// left.
func (g *GuardProcess) Close() error {
	g.mu.Lock()
	g.closed = true
	guard := g.guard
	err := g.pipe.Close()
	g.mu.Unlock()
	late := time.AfterFunc(GuardGrace+SettleTime, func() { guard.Kill() })
	defer late.Stop()
	close(g.over)
	<-g.ended
	return err
}
