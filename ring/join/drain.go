package join

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	pb "ringtrain/ring/ringpb"
)

// audience counts the workers that have heard from the rendezvous here why the
// job has ended. Before a job begins, a worker may come a moment after its end:
// whoever serves the rendezvous stays for it, but not when all have been there.
type drainTracker struct {
	mu       sync.Mutex
	informed int
	begun    bool          // the membership went out: nobody else comes
	changed  chan struct{} // closed, and made anew, when one of them changes
}

func newDrainTracker() *drainTracker { return &drainTracker{changed: make(chan struct{})} }

// attend is the interceptor of all streams; it looks at the rendezvous' own.
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

// ear sees what a worker is told.
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

func (a *drainTracker) update(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
	close(a.changed)
	a.changed = make(chan struct{})
}

// wait returns when n workers have heard why the job has ended, at once if it
// had begun, after drainTime or when ctx ends. An n of 0 is unknown.
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
