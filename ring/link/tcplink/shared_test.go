package tcplink

import (
	"context"
	"errors"
	"fmt"
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

// openShared opens the links of a ring of p ranks. A ring of two shares a connection.
func openShared(t *testing.T, p int, c Config) []ring.Link {
	t.Helper()
	if p != 2 {
		return openRing(t, p, c)
	}
	routes := [][]ring.Route{{{To: 1, From: 1, Shared: true}}, {{Shared: true}}}
	links := openRoutes(t, &network{config: c}, routes)
	return []ring.Link{links[0][0], links[1][0]}
}

// TestSharedConformance verifies that a link over a shared connection keeps the contract of
// ring.Link.
func TestSharedConformance(t *testing.T) {
	for _, c := range []Config{{}, {PayloadCRC: true, Spin: DefaultSpin}} {
		t.Run(fmt.Sprintf("spin=%d", c.Spin), func(t *testing.T) {
			linktest.Run(t, func(t *testing.T, p int) []ring.Link { return openShared(t, p, c) })
		})
	}
}

// TestSharedConnections verifies that a link shares a connection if and only if its route
// allows that.
func TestSharedConnections(t *testing.T) {
	for _, shared := range []bool{false, true} {
		links := openRoutes(t, &network{}, [][]ring.Route{{{To: 1, From: 1, Shared: shared}}, {{Shared: shared}}})
		l := links[0][0].(*link)
		if one := l.in.in == net.Conn(l.out.conn); one != shared {
			t.Errorf("shared=%v: one connection is %v", shared, one)
		}
	}
}

// sharedStage is a stage whose neighbours share a connection with the link.
func sharedStage(t *testing.T, c Config) stage {
	t.Helper()
	here, there := tcpPair(t)
	m := ring.Membership{JobID: "job-1", Generation: linktest.Generation, Rank: 1, Workers: []ring.Worker{
		{Rank: 0, Addr: "left:1"}, {Rank: 1}, {Rank: 2, Addr: "right:2"},
	}}
	c.PayloadCRC = true
	both := c.sharedSocket(here)
	l := newLink(m, ring.Route{To: 2, From: 0}, both, both, c)
	t.Cleanup(func() { l.Close() })
	return stage{Link: l, Membership: m, Left: wire{there}, Right: wire{there}, Shared: true}
}

// TestSharedFaults verifies that both halves report a neighbour's protocol fault under the
// neighbour's name.
func TestSharedFaults(t *testing.T) {
	for _, c := range []Config{{}, {Spin: DefaultSpin}} {
		t.Run(fmt.Sprintf("spin=%d", c.Spin), func(t *testing.T) {
			checkFaults(t, func(t *testing.T) stage { return sharedStage(t, c) })
		})
	}
}

// TestSharedGoodbye verifies that a link that only sends notices that its neighbour has
// left.
func TestSharedGoodbye(t *testing.T) {
	links := openShared(t, 2, Config{})
	links[1].Close()
	var err error
	for op := uint64(0); err == nil; op++ {
		err = links[0].Send(t.Context(), data(op, make([]byte, 1<<16)))
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want io.EOF: it closed the link", err)
	}
}

// TestSharedDelivers verifies that Close loses no frames that the neighbour has not read.
func TestSharedDelivers(t *testing.T) {
	checkDelivery(t, openShared(t, 2, Config{PayloadCRC: true}))
}

// TestSharedAbort verifies that a link that only sends learns why its neighbour has ended,
// and passes the reason on.
func TestSharedAbort(t *testing.T) {
	links := openShared(t, 2, Config{})
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

// TestSharedAllocates verifies that a frame does not allocate.
func TestSharedAllocates(t *testing.T) {
	links := openShared(t, 2, Config{PayloadCRC: true, Spin: DefaultSpin})
	if n := allocations(t, links, 1<<20); n != 0 {
		t.Errorf("%v allocations for each frame", n)
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
	links := openShared(t, 2, Config{Dial: func(ctx context.Context, addr string) (net.Conn, error) {
		c, err := dialTCP(ctx, addr)
		return mute{c, &now}, err
	}})
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
