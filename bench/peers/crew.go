package peers

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A process is one that a contender starts: a rank, or a launcher of ranks.
type process struct {
	argv []string
	env  []string // besides this process's own
}

// grace is the time between TERM and KILL.
const grace = 5 * time.Second

// runCrew runs the processes to their ends and returns what the first one
// printed on standard output. When one fails, or ctx ends, the others are ended.
// The error is that of the process that failed first, with the end of what it
// said on standard error.
func runCrew(ctx context.Context, crew []process) (string, error) {
	// A child is killed when the thread that started it dies: stay on it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var out bytes.Buffer
	var running sync.WaitGroup
	for i, p := range crew {
		cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
		said := new(tail)
		cmd.Env, cmd.Stderr = append(os.Environ(), p.env...), said
		if i == 0 {
			cmd.Stdout = &out
		}
		cmd.SysProcAttr = dieWithParent()
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = grace
		if err := cmd.Start(); err != nil {
			cancel(err)
			break
		}
		running.Go(func() {
			if err := cmd.Wait(); err != nil && ctx.Err() == nil {
				cancel(fmt.Errorf("process %d of %d: %w%s", i, len(crew), err, said))
			}
		})
	}
	running.Wait()
	return out.String(), context.Cause(ctx)
}

// tailBytes are kept of what a process says on standard error.
const tailBytes = 2 << 10

// tail keeps the last bytes that are written to it.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(p), nil
}

// String is the last lines, or nothing.
func (t *tail) String() string {
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	lines = lines[max(0, len(lines)-3):]
	if text := strings.TrimSpace(strings.Join(lines, " | ")); text != "" {
		return ": " + text
	}
	return ""
}
