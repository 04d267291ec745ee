package tcplink

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
	"ringtrain/ring/link/linktest"
)

// openShared opens the links of a ring of p ranks. A ring of two shares a connection.
func openShared(t *testing.T, p int, c Config) []ring.Link {
	t.Helper()
	if p != 2 {
		return openRing(t, p, c)
	}
	routes := [][]ring.Route{{{To: 1, From: 1, Shared: true}}, {{Shared: true}}}
	links := linktest.Open(t, &network{config: c}, routes)
	return []ring.Link{links[0][0], links[1][0]}
}

// TestSharedConformance verifies that a link over a shared connection keeps the contract of
// ring.Link.
func TestSharedConformance(t *testing.T) {
	for _, c := range []Config{{}, {PayloadCRC: true, Repair: true, Spin: DefaultSpin}} {
		t.Run(fmt.Sprintf("repair=%v", c.Repair), func(t *testing.T) {
			linktest.Run(t, func(t *testing.T, p int) []ring.Link { return openShared(t, p, c) })
		})
	}
}

// TestSharedConnections verifies that a link shares a connection if and only if its route
// allows that.
func TestSharedConnections(t *testing.T) {
	for _, shared := range []bool{false, true} {
		links := linktest.Open(t, &network{}, [][]ring.Route{{{To: 1, From: 1, Shared: shared}}, {{Shared: shared}}})
		l := links[0][0].(*link)
		if one := l.in.in == net.Conn(l.out.conn.socket); one != shared {
			t.Errorf("shared=%v: one connection is %v", shared, one)
		}
	}
}

// sharedStage is a stage whose neighbours share a connection with the link.
func sharedStage(t *testing.T, c Config) linktest.Stage {
	t.Helper()
	here, there := tcpPair(t)
	m := ring.Membership{JobID: "job-1", Generation: linktest.Generation, Rank: 1, Workers: []ring.Worker{
		{Rank: 0, Addr: "left:1"}, {Rank: 1}, {Rank: 2, Addr: "right:2"},
	}}
	c.PayloadCRC = true
	both := c.sharedSocket(here)
	l := newLink(m, ring.Route{To: 2, From: 0}, both, both, c)
	t.Cleanup(func() { l.Close() })
	return linktest.Stage{Link: l, Membership: m, Left: wire{there}, Right: wire{there}, Shared: true}
}

// TestSharedFaults verifies that both halves report a neighbour's protocol fault under the
// neighbour's name.
func TestSharedFaults(t *testing.T) {
	for _, c := range []Config{{}, {Spin: DefaultSpin}, {Repair: true, Dial: dialNobody}} {
		t.Run(fmt.Sprintf("spin=%d/repair=%v", c.Spin, c.Repair), func(t *testing.T) {
			linktest.Faults(t, func(t *testing.T) linktest.Stage { return sharedStage(t, c) })
		})
	}
}

// TestSharedBadAck verifies that both halves refuse acknowledgements of frames that were not
// sent.
func TestSharedBadAck(t *testing.T) {
	s := sharedStage(t, Config{})
	s.Left.Write(control(ring.KindAck, 1))
	if _, err := s.Link.Recv(t.Context(), nil); !errors.Is(err, ring.ErrCorruptFrame) {
		t.Errorf("receive: error %v, want ring.ErrCorruptFrame", err)
	}
	<-s.Link.(*link).out.ended
	if err := s.Link.Send(t.Context(), data(0, nil)); !errors.Is(err, ring.ErrCorruptFrame) {
		t.Errorf("send: error %v, want ring.ErrCorruptFrame", err)
	}
}

// TestSharedAckBehindData verifies that a link goes on to send while acknowledgements are behind
// a data frame of its neighbour that it receives only afterwards, as in a step of an all-reduce.
func TestSharedAckBehindData(t *testing.T) {
	s := sharedStage(t, Config{Repair: true, Dial: dialNobody})
	s.Left.Write(linktest.Bytes(data(0, []byte{7}), true))
	const bytes = delivery.AckBytes
	acked := make(chan error, 1)
	go func() {
		for op := range uint64(3 * maxUnackedBytes / bytes) {
			if _, err := io.CopyN(io.Discard, s.Left.(wire), ring.FrameHeaderBytes+bytes); err != nil {
				acked <- err
				return
			}
			s.Left.Write(control(ring.KindAck, op)) // nobody reads it before the data frame
		}
		acked <- nil
	}()
	for op := range uint64(3 * maxUnackedBytes / bytes) {
		if err := s.Link.Send(t.Context(), data(op, make([]byte, bytes))); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-acked; err != nil {
		t.Fatal(err)
	}
	if f, err := s.Link.Recv(t.Context(), make([]byte, 1)); err != nil || f.Op != 0 {
		t.Errorf("received operation %d, error %v, want 0", f.Op, err)
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

// TestSharedDelivers verifies that Close loses no unread frames, whether or not the neighbour
// sends as well.
func TestSharedDelivers(t *testing.T) {
	linktest.CheckDelivery(t, openShared(t, 2, Config{PayloadCRC: true, Repair: true}))
	links := openShared(t, 2, Config{PayloadCRC: true, Repair: true})
	sizes := make([]int, 20)
	for i := range sizes {
		sizes[i] = 1 << 20
	}
	if err := converse(links, sizes); err != nil {
		t.Error(err)
	}
}

// TestSharedHalfIdle breaks the connection while one worker neither sends nor receives and the
// other waits for its frames. It verifies that the wait ends.
func TestSharedHalfIdle(t *testing.T) {
	broken := fault{reads: welcomeBytes + ring.FrameHeaderBytes + 3}
	links, _, _ := couple(t, Config{}, true, dialFaulty(broken))
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

// TestSharedAllocates verifies that neither a frame nor its acknowledgement allocates.
func TestSharedAllocates(t *testing.T) {
	for _, repair := range []bool{false, true} {
		links := openShared(t, 2, Config{PayloadCRC: true, Repair: repair, Spin: DefaultSpin})
		if n := linktest.Allocations(t, links, 1<<20); n != 0 {
			t.Errorf("repair %v: %v allocations for each frame", repair, n)
		}
	}
}

// supplanted is a connection that is replaced while it is read.
type supplanted struct {
	net.Conn
	by func()
}

func (s supplanted) Read([]byte) (int, error) {
	s.by()
	return 0, net.ErrClosed
}

// TestSharedSupplanted verifies that the sender continues over another connection when the
// neighbour reconnects while the sender's goroutine reads the shared connection. Else the
// sender would end, and the neighbour would wait for ever.
func TestSharedSupplanted(t *testing.T) {
	here, there := tcpPair(t)
	other, _ := tcpPair(t)
	s, r := newSender(newSocket(here), false), newReceiver(here)
	shareConn(s, r)
	r.reconnection = &reconnection{arrived: make(chan struct{}, 1)}
	r.frames.src = supplanted{there, func() {
		if err := r.offer(replacement{conn: other, number: 1}); err != nil {
			t.Error(err)
		}
	}}
	if err := r.shared.read(time.Now().Add(time.Minute)); err != errSuperseded {
		t.Errorf("the shared connection ends by %v, want %v", err, errSuperseded)
	}
}
