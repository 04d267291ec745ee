package process

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A Command is a program that is no rank, such as ssh, with all that it starts: a process group
// of its own. Ctrl-C does not reach the group, for the ranks must end first. A program that the
// command has started may hold its pipes open for any time: Kill closes the ends of this process.
type Command struct {
	cmd   *exec.Cmd
	guard *GuardProcess
	group processGroup
	ends  []io.Closer

	exited chan struct{} // closed when the command's own process has ended
	state  *os.ProcessState
}

// NewCommand prepares a command. If this process dies, guard ends it.
func NewCommand(argv []string, stderr io.Writer, guard *GuardProcess) *Command {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr, cmd.SysProcAttr, cmd.WaitDelay = stderr, &syscall.SysProcAttr{Setpgid: true}, SettleTime
	return &Command{cmd: cmd, guard: guard, exited: make(chan struct{})}
}

// StartPiped starts the command with pipes for its standard input and output.
func (c *Command) StartPiped() (in io.WriteCloser, out io.Reader, err error) {
	if in, err = c.cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	read, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	c.ends = []io.Closer{in, read}
	return in, read, c.start()
}

// Start starts the command with f as its standard input.
func (c *Command) Start(f *os.File) error {
	c.cmd.Stdin = f
	return c.start()
}

func (c *Command) start() error {
	if err := c.guard.start(c.cmd); err != nil {
		return CannotRun(c.cmd.Args[0], err)
	}
	c.group.id = c.cmd.Process.Pid
	go func() {
		c.state, _ = c.cmd.Process.Wait()
		close(c.exited)
	}()
	return nil
}

// KillFailed ends what a command that ends with another exit code than 0 has left behind, which
// may hold its pipes open, after SettleTime. It returns when stop is closed.
func (c *Command) KillFailed(stop <-chan struct{}) {
	select {
	case <-c.exited:
	case <-stop:
		return
	}
	if c.state.ExitCode() == 0 {
		return // the command may have put its work into the background
	}
	select {
	case <-time.After(SettleTime):
		c.Kill()
	case <-stop:
	}
}

// Kill ends the command and all that it has started, and closes the pipes.
func (c *Command) Kill() {
	c.group.signal(syscall.SIGKILL)
	for _, end := range c.ends {
		end.Close()
	}
}

// Wait returns the exit code of the command, -1 after a signal, once no process of its group is
// left. What the command has left behind gets TERM after SettleTime, and KILL after GuardGrace.
func (c *Command) Wait() int {
	<-c.exited
	c.cmd.Wait() // for its standard error
	if c.group.sweep(GuardGrace) {
		c.guard.Forget(c.group.id)
	}
	return c.state.ExitCode()
}
