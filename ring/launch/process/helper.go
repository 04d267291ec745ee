package process

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A Helper is a program that is no rank, such as ssh, with all that it starts: a process group
// of its own. Ctrl-C does not reach the group, for the ranks must end first. A program that the
// helper has started may hold its pipes open for any time: Kill closes the ends of this process.
type Helper struct {
	cmd   *exec.Cmd
	guard *GuardProcess
	group processGroup
	ends  []io.Closer

	exited chan struct{} // closed when the helper's own process has ended
	state  *os.ProcessState
}

// NewHelper prepares a helper. If this process dies, guard ends it.
func NewHelper(argv []string, stderr io.Writer, guard *GuardProcess) *Helper {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr, cmd.SysProcAttr, cmd.WaitDelay = stderr, &syscall.SysProcAttr{Setpgid: true}, SettleTime
	return &Helper{cmd: cmd, guard: guard, exited: make(chan struct{})}
}

// StartPiped starts the helper with pipes for its standard input and output.
func (h *Helper) StartPiped() (in io.WriteCloser, out io.Reader, err error) {
	if in, err = h.cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	read, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	h.ends = []io.Closer{in, read}
	return in, read, h.start()
}

// Start starts the helper with f as its standard input.
func (h *Helper) Start(f *os.File) error {
	h.cmd.Stdin = f
	return h.start()
}

func (h *Helper) start() error {
	if err := h.guard.start(h.cmd); h.cmd.Process == nil { // a dead guard shows when a rank starts
		return CannotRun(h.cmd.Args[0], err)
	}
	h.group.id = h.cmd.Process.Pid
	go func() {
		h.state, _ = h.cmd.Process.Wait()
		close(h.exited)
	}()
	return nil
}

// KillFailed ends what a helper that ends with another exit code than 0 has left behind, which
// may hold its pipes open, after SettleTime. It returns when stop is closed.
func (h *Helper) KillFailed(stop <-chan struct{}) {
	select {
	case <-h.exited:
	case <-stop:
		return
	}
	if h.state.ExitCode() == 0 {
		return // the helper may have put its work into the background
	}
	select {
	case <-time.After(SettleTime):
		h.Kill()
	case <-stop:
	}
}

// Kill ends the helper and all that it has started, and closes the pipes.
func (h *Helper) Kill() {
	h.group.signal(syscall.SIGKILL)
	for _, end := range h.ends {
		end.Close()
	}
}

// Wait returns the exit code of the helper, -1 after a signal, once no process of its group is
// left. What the helper has left behind gets TERM after SettleTime, and KILL after GuardGrace.
func (h *Helper) Wait() int {
	<-h.exited
	h.cmd.Wait() // for its standard error
	if h.group.sweep(GuardGrace) {
		h.guard.Forget(h.group.id)
	}
	return h.state.ExitCode()
}
