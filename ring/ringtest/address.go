package ringtest

import (
	"net"
	"testing"
)

// RefusedAddress returns an address that refuses connections until the end of the
// test: its port belongs to a connection.
func RefusedAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		far.Close()
	})
	return c.LocalAddr().String()
}
