package ringtest

import (
	"os"
	"testing"

	"ringtrain/ring/ringtest/netns"
)

// Hosts returns a network of so many hosts whose links have the given rate, as
// tc writes it (1gbit, 100mbit; "": unshaped). It is gone when the test ends,
// whichever way. Hosts skips t unless the person asked for tests over network
// namespaces, and they can be made here.
func Hosts(t testing.TB, hosts int, rate string) []netns.Host {
	t.Helper()
	if os.Getenv("RINGTRAIN_NETNS") == "" {
		t.Skip("set RINGTRAIN_NETNS=1 and run as root to test over network namespaces")
	}
	if err := netns.Available(); err != nil {
		t.Skip(err)
	}
	n, err := netns.New(t.Context(), netns.Config{Hosts: hosts, Rate: rate})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n.Hosts()
}
