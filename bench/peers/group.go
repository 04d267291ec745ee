package peers

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"

	"ringtrain/bench/child"
)

// runProcesses runs the processes until they end, and returns the standard output of the
// first one. When a process fails or ctx ends, runProcesses ends the others. The error is
// that of the process that failed first, with the end of its standard error.
func runProcesses(ctx context.Context, processes []child.Process) (string, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var out bytes.Buffer
	var running sync.WaitGroup
	for i, p := range processes {
		cmd, stderr := p.Command(ctx)
		if i == 0 {
			cmd.Stdout = &out
		}
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
	return out.String(), context.Cause(ctx)
}
