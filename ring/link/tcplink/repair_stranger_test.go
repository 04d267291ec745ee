package tcplink

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/handshake"
	"ringtrain/ring/token"
)

// TestRepairStranger verifies that strangers that answer in the neighbour's place do
// not prevent a repair. One stranger has another token, the next speaks another protocol.
// The repair must succeed when the neighbour can be reached again.
func TestRepairStranger(t *testing.T) { eachKind(t, testRepairStranger) }

func testRepairStranger(t *testing.T, shared bool) {
	const strange = 8 // more than maxRepairs
	first := dialFaulty(fault{writes: helloBytes + proofBytes + 20, reset: true})
	var dials atomic.Int32
	var members []ring.Membership
	dial := func(ctx context.Context, addr string) (net.Conn, error) {
		switch n := dials.Add(1); {
		case n == 1:
			return first(ctx, addr)
		case n > 1+strange:
			return dialTCP(ctx, addr)
		case n%2 == 0:
			return dialStranger(t, func(c net.Conn) { c.Write([]byte("SSH-2.0-OpenSSH_9.2p1 Debian\r\n")) })
		}
		return dialStranger(t, func(c net.Conn) {
			p := handshake.Identity{Membership: members[1], Token: token.New()}
			p.Accept(c, func(handshake.Peer) error { return nil })
		})
	}
	var links []ring.Link
	links, _, members = couple(t, Config{}, shared, dial)
	defer func() { go links[0].Close(); links[1].Close() }()
	if err := links[0].Send(t.Context(), data(0, nil)); err != nil {
		t.Fatalf("after %d dials: %v", dials.Load(), err)
	}
	if _, err := links[1].Recv(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if n := dials.Load(); n <= 1+strange {
		t.Errorf("%d connections were dialled, want more than %d", n, 1+strange)
	}
}

// dialStranger connects with a listener that sends answer and closes.
func dialStranger(t *testing.T, answer func(net.Conn)) (net.Conn, error) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer lis.Close()
	conn, err := net.Dial("tcp", lis.Addr().String())
	if err != nil {
		return nil, err
	}
	theirs, err := lis.Accept()
	if err != nil {
		return nil, err
	}
	go func() {
		answer(theirs)
		theirs.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, theirs) // unread bytes would cause a reset, which loses the answer
		theirs.Close()
	}()
	return conn, nil
}
