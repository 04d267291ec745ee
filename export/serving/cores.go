package serving

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/interpreter"
)

// Cores runs the requests of all versions: one batch on each core, in the goroutine of one of its
// requests. A core that is idle or becomes free takes the request that has waited longest, with those
// that wait for the same signature. So batches grow with the load, and no timer holds a request back.
type Cores struct {
	Limits

	mu      sync.Mutex
	idle    int        // cores without a batch
	waiting []*request // in order of arrival
}

// Limits bound the work of a server and its memory.
type Limits struct {
	Cores  int // batches that run at the same time
	Batch  int // records that run together; with 1 every request runs alone and whole
	Queue  int // requests that wait for a core
	Tensor int // bytes of a tensor of a request
}

// NewCores returns idle cores.
func NewCores(l Limits) *Cores { return &Cores{Limits: l, idle: l.Cores} }

// Waiting returns the number of requests that wait for a core.
func (c *Cores) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}

// request is one call of a signature.
type request struct {
	of      *lane
	inputs  []*interpreter.Tensor
	records int // 0: it runs alone
	arrived time.Time

	// turn receives the batch that the goroutine of the request runs. It is closed when another
	// goroutine has run the request.
	turn    chan []*request
	outputs []*interpreter.Tensor
	err     error
}

// run answers r. It returns when r has its answer, or has waited until ctx was done.
func (c *Cores) run(ctx context.Context, r *request) ([]*interpreter.Tensor, error) {
	found, err := c.enter(r, ctx.Value(warming{}) != nil)
	if err != nil {
		return nil, err
	}
	if found {
		c.next()
	}
	var batch []*request
	select {
	case batch = <-r.turn:
	case <-ctx.Done():
		if c.leave(r) {
			return nil, ended(ctx)
		}
		batch = <-r.turn
	}
	if batch != nil {
		c.lead(batch)
	}
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	return r.outputs, r.err
}

// warming is the key of a context in whose requests the server asks itself, to warm up a version: a
// full queue does not refuse them, or no version could be loaded under load.
type warming struct{}

// enter puts r into the queue. It reports whether it found an idle core, which the caller has then.
func (c *Cores) enter(r *request, own bool) (found bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found = c.idle > 0
	if found {
		c.idle--
	} else if len(c.waiting) >= c.Queue && !own {
		return false, status.Errorf(codes.Unavailable, "%d requests wait for a core, which is the limit: ask again", len(c.waiting))
	}
	r.turn = make(chan []*request, 1)
	c.waiting = append(c.waiting, r)
	return found, nil
}

// leave takes r out of the queue. It reports false if a core has taken r already.
func (c *Cores) leave(r *request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.waiting, r)
	if i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	}
	return i >= 0
}

// lead runs a batch on the core that the first of its requests has, and hands the core on.
func (c *Cores) lead(batch []*request) {
	batch[0].of.run(batch)
	for _, r := range batch[1:] {
		close(r.turn)
	}
	c.next()
}

// next gives a core that is free to the request that has waited longest and to those that fit it.
// Goroutines that are ready go first: on a busy machine they are requests on their way to the queue.
func (c *Cores) next() {
	runtime.Gosched()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.idle++
		return
	}
	first, records := c.waiting[0], 0
	var batch []*request
	c.waiting = slices.DeleteFunc(c.waiting, func(r *request) bool {
		taken := r == first || r.fits(first) && records+r.records <= c.Batch
		if taken {
			batch, records = append(batch, r), records+r.records
		}
		return taken
	})
	first.turn <- batch
}

// size returns the number of records of a request for the metrics, 1 if there is no telling.
func (r *request) size() int {
	if r.records == 0 && len(r.inputs) > 0 && len(r.inputs[0].Shape) > 0 {
		return r.inputs[0].Shape[0]
	}
	return max(r.records, 1)
}

// fits reports whether two requests may go together: to the same signature, with records of the same shapes.
func (r *request) fits(other *request) bool {
	if r.of != other.of || r.records == 0 || other.records == 0 {
		return false
	}
	for i, t := range r.inputs {
		if !slices.Equal(t.Shape[1:], other.inputs[i].Shape[1:]) {
			return false
		}
	}
	return true
}

// errLate reports a request that has no answer in its time.
var errLate = status.Error(codes.DeadlineExceeded, "the request took longer than its limit")

// ended returns the status of a request whose context is done.
func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errLate
	}
	return status.Error(codes.Canceled, "the client has gone")
}
