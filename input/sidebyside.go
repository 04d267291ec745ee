package input

import (
	"context"
	"sync"
	"sync/atomic"
)

// SideBySide calls work for each i in [0, n), on so many workers, which have numbers from 0. It returns the
// error of the lowest i: the calls begin in order, and none begins after an error. When ctx ends, the next
// call is the error that is its cause.
func SideBySide(ctx context.Context, n, workers int, work func(worker, i int) error) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	faults := make([]error, n)
	for worker := range min(workers, n) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if ctx.Err() != nil {
					faults[i] = context.Cause(ctx)
				} else {
					faults[i] = work(worker, i)
				}
				if faults[i] != nil {
					next.Store(int64(n))
				}
			}
		})
	}
	wait.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}
