package serving

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// call is one request of a client, each of which has its own connection.
type call func(ctx context.Context, client int) error

// times has what requests took, in order, and the errors of those that failed.
type times struct {
	mu     sync.Mutex
	took   []time.Duration
	failed []error
	over   time.Duration // of the measurement
}

// ask makes a request and notes its time.
func (t *times) ask(ctx context.Context, c call, client int) {
	began := time.Now()
	err := c(ctx, client)
	took := time.Since(began)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.failed = append(t.failed, err)
		return
	}
	t.took = append(t.took, took)
}

// done ends a measurement. The error is that of the first requests, if none has an answer.
func (t *times) done(began time.Time) (*times, error) {
	t.over = time.Since(began)
	slices.Sort(t.took)
	if len(t.took) == 0 {
		return t, errors.Join(errors.New("no request has an answer"), errors.Join(t.failed[:min(len(t.failed), 3)]...))
	}
	return t, nil
}

// quantile returns the time that a share of the requests takes at most.
func (t *times) quantile(share float64) time.Duration {
	return t.took[int(share*float64(len(t.took)-1))]
}

// atRate makes requests of one client at a fixed rate until stop is closed. A request that takes long does not
// hold back the next one.
func atRate(ctx context.Context, c call, perSecond int, stop <-chan struct{}) (*times, error) {
	t, began := &times{}, time.Now()
	var running sync.WaitGroup
	next := time.NewTimer(0)
	defer next.Stop()
	for i := 1; ; i++ {
		select {
		case <-next.C:
			running.Go(func() { t.ask(ctx, c, 0) })
			next.Reset(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
			continue
		case <-stop:
		case <-ctx.Done():
		}
		running.Wait()
		return t.done(began)
	}
}

// byClients makes requests by a number of clients for a time, each of which waits for its answers.
func byClients(ctx context.Context, c call, clients int, over time.Duration) (*times, error) {
	t, began := &times{}, time.Now()
	var running sync.WaitGroup
	for client := range clients {
		running.Go(func() {
			for time.Since(began) < over && ctx.Err() == nil {
				t.ask(ctx, c, client)
			}
		})
	}
	running.Wait()
	return t.done(began)
}

// after returns a channel that is closed after a time.
func after(d time.Duration) <-chan struct{} {
	done := make(chan struct{})
	time.AfterFunc(d, func() { close(done) })
	return done
}
