package grpclink

import (
	"net"
	"testing"
)

// TestClosedWindow verifies that gRPC cannot access the socket of a connection. Else
// the kernel would end a connection whose window is closed for 30 s, as while a job is stopped.
func TestClosedWindow(t *testing.T) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	c, err := new(dialer).dial(t.Context(), lis.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, is := c.(*net.TCPConn); is {
		t.Error("the connection is a *net.TCPConn to gRPC, want another type")
	}
}
