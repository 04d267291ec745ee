package tcplink

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// TestClosedWindow verifies that the kernel does not end a connection within this machine whose
// window is closed for long, as while a job is stopped.
func TestClosedWindow(t *testing.T) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	c, err := net.Dial("tcp", lis.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tuneTCP(c.(*net.TCPConn), 2)
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	limit := -1
	if err := raw.Control(func(fd uintptr) { limit, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT) }); err != nil || limit != 0 {
		t.Errorf("the kernel ends the connection after %d ms, want 0, never; error %v", limit, err)
	}
}
