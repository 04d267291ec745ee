package main

import (
	"os/exec"
	"strings"
	"testing"

	"ringtrain/ring/ringtest/netns"
)

// Faults between hosts that are network namespaces. They need no packet filter: packets
// go to a hardware address that no host has.

const nobody = "02:00:00:00:00:01"

// silence drops the packets from one host to another. The other direction works.
func silence(t testing.TB, from, to netns.Host) {
	t.Helper()
	onHost(t, from, "ip neigh replace "+to.Addr+" lladdr "+nobody+" dev eth0 nud permanent")
}

// unplug disconnects a host from the network.
func unplug(t testing.TB, h netns.Host) {
	t.Helper()
	onHost(t, h, "ip link set eth0 down")
}

// plug reconnects a host.
func plug(t testing.TB, h netns.Host) {
	t.Helper()
	onHost(t, h, "ip link set eth0 up")
}

// resetConnections makes the kernels of hosts reset the TCP connections that a filter of ss
// selects, and returns whether there were some. A kernel that resets one tells the other side.
func resetConnections(t testing.TB, filter string, on ...netns.Host) bool {
	t.Helper()
	reset := 0
	for _, h := range on {
		argv := h.Command(strings.Fields("ss -K -H -t -n state established " + filter)...)
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if err != nil {
			t.Errorf("ss -K %s: %v: %s", filter, err, out)
		}
		reset += len(out)
	}
	return reset > 0
}

// slow limits the rate of a host.
func slow(t testing.TB, h netns.Host, rate string) {
	t.Helper()
	onHost(t, h, "tc qdisc replace dev eth0 root tbf rate "+rate+" burst 32kb latency 50ms")
}

// fast removes the limit of slow.
func fast(t testing.TB, h netns.Host) {
	t.Helper()
	onHost(t, h, "tc qdisc del dev eth0 root")
}

// onHost runs a command line on a host.
func onHost(t testing.TB, h netns.Host, line string) {
	t.Helper()
	argv := h.Command(strings.Fields(line)...)
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", line, err, out)
	}
}
