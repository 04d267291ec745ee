package tcplink

import (
	"errors"
	"io"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSharedCloseUnread verifies that Close delivers all sent frames although frames of the
// neighbour are unread: the kernel resets such a connection.
func TestSharedCloseUnread(t *testing.T) {
	links := openRing(t, 2, local.sharing())
	const frames = 5
	for op := range uint64(frames) {
		if err := links[0].Send(t.Context(), data(op, make([]byte, 128<<10))); err != nil {
			t.Fatal(err)
		}
	}
	if err := links[1].Send(t.Context(), data(0, []byte{1})); err != nil {
		t.Fatal(err)
	}
	socket := links[0].(*link).in.in.below.(*pollSocket)
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
