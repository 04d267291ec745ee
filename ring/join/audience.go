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
type audience struct {
	mu    sync.Mutex
	heard int
	begun bool          // the membership went out: nobody else comes
	news  chan struct{} // closed, and made anew, when one of them changes
}

func newAudience() *audience { return &audience{news: make(chan struct{})} }

// attend is the interceptor of all streams; it looks at the rendezvous' own.
func (a *audience) attend(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if info.FullMethod != pb.Rendezvous_Meet_FullMethodName {
		return handle(srv, s)
	}
	e := &ear{ServerStream: s, audience: a}
	err := handle(srv, e) // returns when the worker has read its last message and closed
	if e.told {
		a.note(func() { a.heard++ })
	}
	return err
}

// ear sees what a worker is told.
type ear struct {
	grpc.ServerStream
	audience *audience
	told     bool
}

func (e *ear) SendMsg(m any) error {
	switch msg := m.(*pb.RendezvousMessage); {
	case msg.GetMembership() != nil:
		e.audience.note(func() { e.audience.begun = true })
	case msg.GetAbort() != nil:
		e.told = true
	}
	return e.ServerStream.SendMsg(m)
}

func (a *audience) note(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
	close(a.news)
	a.news = make(chan struct{})
}

// wait returns when n workers have heard why the job has ended, at once if it
// had begun, after drainTime or when ctx ends. An n of 0 is unknown.
func (a *audience) wait(ctx context.Context, n int) {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	for {
		a.mu.Lock()
		enough, news := a.begun || n > 0 && a.heard >= n, a.news
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
