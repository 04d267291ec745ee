// Package child starts the programs that a benchmark runs and ends them with it.
package child

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Grace is the time between TERM and KILL.
const Grace = 5 * time.Second

// A Process is a program to start, such as a rank or a launcher of ranks.
type Process struct {
	Argv   []string
	Env    []string // in addition to the environment of this process
	Stdin  io.Reader
	Stdout io.Writer
}

// Run runs the processes until they end. When a process fails or ctx ends, Run ends the
// others. The error is that of the process that failed first, with the end of its standard
// error.
func Run(ctx context.Context, processes []Process) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for i, p := range processes {
		cmd, stderr := p.Command(ctx)
		if err := cmd.Start(); err != nil {
			cancel(err)
			break
		}
		running.Go(func() {
			if err := cmd.Wait(); err != nil && ctx.Err() == nil {
				cancel(fmt.Errorf("process %d of %d: %w%s", i, len(processes), err, stderr))
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// Command returns a command for p, which the caller starts. When ctx ends, the process
// gets TERM, and KILL after [Grace]. The Tail has the end of its standard error.
//
// The kernel kills the process when the thread that started it ends. The caller
// therefore locks its goroutine to the thread until the process has ended.
func (p Process) Command(ctx context.Context) (*exec.Cmd, *Tail) {
	cmd, stderr := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...), new(Tail)
	cmd.Env, cmd.Stderr, cmd.SysProcAttr = append(os.Environ(), p.Env...), stderr, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stdin, cmd.Stdout = p.Stdin, p.Stdout
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = Grace
	return cmd, stderr
}

// tailBytes is the length of a Tail.
const tailBytes = 2 << 10

// Tail is a writer that keeps the last bytes.
type Tail struct{ text []byte }

// Write keeps the last bytes of the Tail and p.
func (t *Tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(p), nil
}

// String returns the last three lines, after a colon, or "" if there are none.
func (t *Tail) String() string {
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	lines = lines[max(0, len(lines)-3):]
	if text := strings.TrimSpace(strings.Join(lines, " | ")); text != "" {
		return ": " + text
	}
	return ""
}
