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
	"time"

	"golang.org/x/sys/unix"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/delivery"
	"ringtrain/ring/link/linktest"
)

// TestSharedLateAck verifies that an acknowledgement that arrives behind data after the end of
// a shared connection is no corrupt frame: the connection can be repaired.
func TestSharedLateAck(t *testing.T) {
	s := sharedStage(t, Config{Repair: true, RepairTimeouts: RepairTimeouts{Limit: time.Millisecond}, Dial: dialNobody})
	var b []byte
	for op := range uint64(2) {
		b = append(b, linktest.Bytes(data(op, []byte{1}), true)...)
	}
	s.Left.Write(append(b, control(ring.KindAck, 0)...)) // in one segment
	for op := range uint64(2) {
		if f, err := s.Link.Recv(t.Context(), make([]byte, 1)); err != nil || f.Op != op {
			t.Fatalf("received operation %d, %v, want %d", f.Op, err, op)
		}
		s.Link.(*link).in.shared.fail(syscall.ECONNRESET)
	}
	if _, err := s.Link.Recv(t.Context(), make([]byte, 1)); errors.Is(err, ring.ErrCorruptFrame) || exitcode.Of(err) != exitcode.Retry {
		t.Errorf("error %v (code %d), want a broken connection with exitcode.Retry", err, exitcode.Of(err))
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
	links, _, _ := couple(t, Config{}, true, func(ctx context.Context, addr string) (net.Conn, error) {
		c, err := dialTCP(ctx, addr)
		return mute{c, &now}, err
	})
	defer func() { go links[0].Close(); links[1].Close() }()
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
	if err := <-received; err == nil {
		t.Error("received a frame that nobody has sent")
	}
}

// TestSharedLastFrame verifies that the sender's goroutine records the cause of the end before
// another goroutine can read. The other goroutine would find a less precise error and try
// to repair the connection to a neighbour that has left in order.
func TestSharedLastFrame(t *testing.T) {
	s := sharedStage(t, Config{})
	s.Left.Write(control(ring.KindClose, 0))
	p := s.Link.(*link).in.shared
	if err := p.read(time.Now().Add(patient.Attempt)); !errors.Is(err, delivery.ErrGoodbye) || p.active() {
		t.Errorf("read %v, and the shared connection is active: %t; want a goodbye, and its end", err, p.active())
	}
}

// TestSharedCloseUnread verifies that Close delivers all sent frames although frames of the
// neighbour are unread: the kernel resets such a connection.
func TestSharedCloseUnread(t *testing.T) {
	links, _, _ := couple(t, Config{}, true, dialTCP)
	defer links[1].Close()
	const frames = 5
	for op := range uint64(frames) {
		if err := links[0].Send(t.Context(), data(op, make([]byte, 128<<10))); err != nil {
			t.Fatal(err)
		}
	}
	if err := links[1].Send(t.Context(), data(0, []byte{1})); err != nil {
		t.Fatal(err)
	}
	socket := links[0].(*link).in.in.(*pollSocket)
	if err := socket.waitReady(unix.POLLIN, &socket.readBy); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- links[0].Close() }()
	for op := range uint64(frames) {
		if f, err := links[1].Recv(t.Context(), make([]byte, 1<<20)); err != nil || f.Op != op {
			t.Fatalf("received operation %d, %v, want %d", f.Op, err, op)
		}
	}
	if _, err := links[1].Recv(t.Context(), nil); !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want io.EOF: it closed the link", err)
	}
	<-closed
}
