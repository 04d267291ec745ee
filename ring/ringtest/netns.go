package ringtest

import (
	"os"
	"testing"

	"ringtrain/ring/ringtest/netns"
)

// Hosts returns a network of hosts whose links have the given rate, in tc's notation (1gbit,
// 100mbit; "": unshaped). The network ends with the test. Hosts skips t unless
// RINGTRAIN_NETNS is set and network namespaces can be created.
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
