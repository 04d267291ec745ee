package tcplink

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/linktest"
)

// TestSharedConformance verifies that a link over a shared connection keeps the contract of
// ring.Link.
func TestSharedConformance(t *testing.T) {
	for _, how := range []mode{local.spinning(0).sharing(), auth.sharing(), tls.sharing()} {
		t.Run("mode="+how.name, func(t *testing.T) {
			linktest.Run(t, func(t *testing.T, p int) []ring.Link { return openRing(t, p, how) })
		})
	}
}

// TestSharedConnections verifies that a link shares a connection if and only if its route
// allows that.
func TestSharedConnections(t *testing.T) {
	for _, shared := range []bool{false, true} {
		links := openRoutes(t, &network{}, [][]ring.Route{{{To: 1, From: 1, Shared: shared}}, {{Shared: shared}}})
		l := links[0][0].(*link)
		if one := l.in.in == l.out.conn; one != shared {
			t.Errorf("shared=%v: one connection is %v", shared, one)
		}
	}
}

// sharedStage is a stage whose neighbours share a connection with the link.
func sharedStage(t *testing.T) stage {
	t.Helper()
	here, there := tcpPair(t)
	m := ring.Membership{JobID: "job-1", Generation: linktest.Generation, Rank: 1, Workers: []ring.Worker{
		{Rank: 0, Addr: "left:1"}, {Rank: 1}, {Rank: 2, Addr: "right:2"},
	}}
	both := plain(newSocket(newReadConn(tune(here, 2), DefaultSpin)))
	l := newLink(m, ring.Route{To: 2, From: 0}, both, both)
	t.Cleanup(func() { l.Close() })
	return stage{Link: l, Membership: m, Left: wire{there}, Right: wire{there}, Shared: true}
}

// TestSharedFaults verifies that both halves report a neighbour's protocol fault under the
// neighbour's name.
func TestSharedFaults(t *testing.T) {
	checkFaults(t, sharedStage)
}

// TestSharedGoodbye verifies that a link that only sends notices that its neighbour has
// left.
func TestSharedGoodbye(t *testing.T) {
	links := openRing(t, 2, tls.sharing())
	links[1].Close()
	var err error
	for op := uint64(0); err == nil; op++ {
		err = links[0].Send(t.Context(), data(op, make([]byte, 1<<16)))
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want io.EOF: it closed the link", err)
	}
}

// TestSharedAbort verifies that a link that only sends learns why its neighbour has ended,
// and passes the reason on.
func TestSharedAbort(t *testing.T) {
	links := openRing(t, 2, tls.sharing())
	told := make(chan *ring.Abort, 1)
	links[0].Notify(func(bool) {}, func(why *ring.Abort) { told <- why })
	links[1].Abort(&ring.Abort{Rank: 1, By: 1, Code: exitcode.Retry, Text: "no more"})
	var err error
	for op := uint64(0); err == nil; op++ {
		err = links[0].Send(t.Context(), data(op, make([]byte, 1<<16)))
	}
	if why, ok := errors.AsType[*ring.Abort](err); !ok || why.Text != "no more" || <-told != why {
		t.Errorf("error %v, want the neighbour's abort", err)
	}
}

// mute is a connection whose writes fail from some time on.
type mute struct {
	net.Conn
	now *atomic.Bool
}

func (m mute) Write(p []byte) (int, error) {
	if m.now.Load() {
		return 0, syscall.ENOBUFS
	}
	return m.Conn.Write(p)
}

// TestSharedMute verifies that a Send whose write fails does not wait for a Recv that sees
// no error.
func TestSharedMute(t *testing.T) {
	var now atomic.Bool
	links := openRing(t, 2, local.sharing().dialing(func(ctx context.Context, addr string) (net.Conn, error) {
		c, err := dialTCP(ctx, addr)
		return mute{c, &now}, err
	}))
	received := make(chan error)
	go func() {
		_, err := links[0].Recv(context.Background(), nil)
		received <- err
	}()
	for in := links[0].(*link).in; in.reading.TryLock(); runtime.Gosched() {
		in.reading.Unlock()
	}
	now.Store(true)
	if err := links[0].Send(t.Context(), data(0, nil)); !errors.Is(err, syscall.ENOBUFS) {
		t.Errorf("send: error %v, want %v", err, syscall.ENOBUFS)
	}
	if err := <-received; !errors.Is(err, syscall.ENOBUFS) {
		t.Errorf("receive: error %v, want %v", err, syscall.ENOBUFS)
	}
}
