package tcplink

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
)

// openPairs opens the links of a ring of p ranks, which of two is a pair.
func openPairs(t *testing.T, p int, c Config) []ring.Link {
	t.Helper()
	if p != 2 {
		return openRing(t, p, c)
	}
	routes := [][]ring.Route{{{To: 1, From: 1, Shared: true}}, {{Shared: true}}}
	links := linktest.Open(t, &network{config: c}, routes)
	return []ring.Link{links[0][0], links[1][0]}
}

// TestPairConformance fails if a link over one connection is not what package ring
// takes a link for.
func TestPairConformance(t *testing.T) {
	for _, c := range []Config{{}, {PayloadCRC: true, Repair: true, Spin: DefaultSpin}} {
		t.Run(fmt.Sprintf("repair=%v", c.Repair), func(t *testing.T) {
			linktest.Run(t, func(t *testing.T, p int) []ring.Link { return openPairs(t, p, c) })
		})
	}
}

// TestPairConnections fails if a link that may share a connection takes two, which
// costs a packet for each frame, or if one that may not does.
func TestPairConnections(t *testing.T) {
	for _, shared := range []bool{false, true} {
		links := linktest.Open(t, &network{}, [][]ring.Route{{{To: 1, From: 1, Shared: shared}}, {{Shared: shared}}})
		l := links[0][0].(*link)
		if one := l.in.in == net.Conn(l.out.line.socket); one != shared {
			t.Errorf("shared=%v: one connection is %v", shared, one)
		}
	}
}

// pairStage is a stage whose neighbours share a connection with the link.
func pairStage(t *testing.T, c Config) linktest.Stage {
	t.Helper()
	here, there := tcpPair(t)
	m := ring.Membership{JobID: "job-1", Generation: linktest.Generation, Rank: 1, Workers: []ring.Worker{
		{Rank: 0, Addr: "left:1"}, {Rank: 1}, {Rank: 2, Addr: "right:2"},
	}}
	c.PayloadCRC = true
	both := c.newBoth(here)
	l := newLink(m, ring.Route{To: 2, From: 0}, both, both, c)
	t.Cleanup(func() { l.Close() })
	return linktest.Stage{Link: l, Membership: m, Left: wire{there}, Right: wire{there}, Shared: true}
}

// TestPairFaults fails if what a neighbour does wrong is not refused in its name,
// by both halves.
func TestPairFaults(t *testing.T) {
	for _, c := range []Config{{}, {Spin: DefaultSpin}, {Repair: true, Dial: dialNobody}} {
		t.Run(fmt.Sprintf("spin=%d/repair=%v", c.Spin, c.Repair), func(t *testing.T) {
			linktest.Faults(t, func(t *testing.T) linktest.Stage { return pairStage(t, c) })
		})
	}
}

// TestPairBadAck fails if the sender believes acknowledgements of frames that it has
// not sent, or if the receiver goes on after one.
func TestPairBadAck(t *testing.T) {
	s := pairStage(t, Config{})
	s.Left.Write(control(ring.KindAck, 1))
	if _, err := s.Link.Recv(t.Context(), nil); !errors.Is(err, ring.ErrCorruptFrame) {
		t.Errorf("receive: error %v, want ring.ErrCorruptFrame", err)
	}
	<-s.Link.(*link).out.ended
	if err := s.Link.Send(t.Context(), data(0, nil)); !errors.Is(err, ring.ErrCorruptFrame) {
		t.Errorf("send: error %v, want ring.ErrCorruptFrame", err)
	}
}

// TestPairGoodbye fails if a link that only sends does not hear that its neighbour
// has left.
func TestPairGoodbye(t *testing.T) {
	links := openPairs(t, 2, Config{})
	links[1].Close()
	var err error
	for op := uint64(0); err == nil; op++ {
		err = links[0].Send(t.Context(), data(op, make([]byte, 1<<16)))
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want io.EOF: it closed the link", err)
	}
}

// TestPairDelivers fails if Close loses frames that nobody has read yet, where the
// neighbour sends nothing, or sends as much.
func TestPairDelivers(t *testing.T) {
	linktest.Delivers(t, openPairs(t, 2, Config{PayloadCRC: true, Repair: true}))
	links := openPairs(t, 2, Config{PayloadCRC: true, Repair: true})
	sizes := make([]int, 20)
	for i := range sizes {
		sizes[i] = 1 << 20
	}
	if err := converse(links, sizes); err != nil {
		t.Error(err)
	}
}

// TestPairHalfIdle breaks the connection while one of the two neither sends nor
// receives, and the other one waits for what that has sent. It fails if the wait
// lasts.
func TestPairHalfIdle(t *testing.T) {
	broken := wound{reads: welcomeBytes + ring.FrameHeaderBytes + 3}
	links, _, _ := couple(t, Config{}, true, dialWounded(broken))
	if err := converse(links, []int{3}); err != nil {
		t.Fatal(err)
	}
	for op := uint64(7); op < 9; op++ { // over the old connection, and the new one
		if err := links[1].Send(t.Context(), data(op, []byte{1, 2})); err != nil {
			t.Fatal(err)
		}
		if f, err := links[0].Recv(t.Context(), make([]byte, 2)); err != nil || f.Op != op {
			t.Errorf("received operation %d, %v, want %d", f.Op, err, op)
		}
	}
	go links[0].Close()
	links[1].Close()
}

// TestPairAllocates fails if a frame, or its acknowledgement, allocates.
func TestPairAllocates(t *testing.T) {
	for _, repair := range []bool{false, true} {
		links := openPairs(t, 2, Config{PayloadCRC: true, Repair: repair, Spin: DefaultSpin})
		if n := linktest.Allocations(t, links, 1<<20); n != 0 {
			t.Errorf("repair %v: %v allocations for each frame", repair, n)
		}
	}
}

// supplanted is a connection in place of which another one comes while it is read.
type supplanted struct {
	net.Conn
	by func()
}

func (s supplanted) Read([]byte) (int, error) {
	s.by()
	return 0, net.ErrClosed
}

// TestPairSupplanted has the neighbour come back over another connection while the
// sender's goroutine reads the shared one. If it fails the sender takes the end of that
// for its own, and never goes on over another one: the neighbour waits for ever.
func TestPairSupplanted(t *testing.T) {
	here, there := tcpPair(t)
	other, _ := tcpPair(t)
	s, r := newSender(newSocket(here), false), newReceiver(here)
	join(s, r)
	r.rejoin = &rejoin{arrived: make(chan struct{}, 1)}
	r.frames.src = supplanted{there, func() {
		if err := r.take(offer{conn: other, visit: 1}); err != nil {
			t.Error(err)
		}
	}}
	if err := r.pair.read(time.Now().Add(time.Minute)); err != errAgain {
		t.Errorf("the shared connection ends by %v, want %v", err, errAgain)
	}
}
