package join

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	pb "ringtrain/ring/ringpb"
)

// drainTracker counts the workers that the rendezvous of this process has told why the job
// has ended. A worker of a job that has not begun may come a moment after the end. The
// rendezvous waits for such workers until all have been told.
type drainTracker struct {
	mu       sync.Mutex
	informed int
	begun    bool          // the membership was sent: all workers are here
	changed  chan struct{} // closed and replaced when informed or begun changes
}

func newDrainTracker() *drainTracker { return &drainTracker{changed: make(chan struct{})} }

// intercept is the interceptor of all streams. It watches those of the rendezvous.
func (a *drainTracker) intercept(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if info.FullMethod != pb.Rendezvous_Meet_FullMethodName {
		return handle(srv, s)
	}
	e := &drainStream{ServerStream: s, tracker: a}
	err := handle(srv, e) // returns when the worker has read its last message and closed
	if e.informed {
		a.update(func() { a.informed++ })
	}
	return err
}

// drainStream watches the messages that the rendezvous sends to a worker.
type drainStream struct {
	grpc.ServerStream
	tracker  *drainTracker
	informed bool
}

func (e *drainStream) SendMsg(m any) error {
	switch msg := m.(*pb.RendezvousMessage); {
	case msg.GetMembership() != nil:
		e.tracker.update(func() { e.tracker.begun = true })
	case msg.GetAbort() != nil:
		e.informed = true
	}
	return e.ServerStream.SendMsg(m)
}

// update calls change and wakes the waiters.
func (a *drainTracker) update(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
	close(a.changed)
	a.changed = make(chan struct{})
}

// wait returns when n workers have been told why the job has ended, after drainTimeout, or
// when ctx ends. It returns at once if the job had begun. An n of 0 is unknown.
func (a *drainTracker) wait(ctx context.Context, n int) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	for {
		a.mu.Lock()
		enough, news := a.begun || n > 0 && a.informed >= n, a.changed
		a.mu.Unlock()
		if enough {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}
