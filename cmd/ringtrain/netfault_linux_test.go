package main

import (
	"os/exec"
	"strings"
	"testing"

	"ringtrain/ring/ringtest/netns"
)

// What can go wrong between hosts that are network namespaces. There is no packet
// filter in it: nobody has the hardware address that packets are sent to.

const nobody = "02:00:00:00:00:01"

// silence drops what from sends to to. What comes back the other way arrives.
func silence(t testing.TB, from, to netns.Host) {
	t.Helper()
	onHost(t, from, "ip neigh replace "+to.Addr+" lladdr "+nobody+" dev eth0 nud permanent")
}

// unplug takes a host off the network.
func unplug(t testing.TB, h netns.Host) {
	t.Helper()
	onHost(t, h, "ip link set eth0 down")
}

// plug puts it back.
func plug(t testing.TB, h netns.Host) {
	t.Helper()
	onHost(t, h, "ip link set eth0 up")
}

// slow bounds what a host sends.
func slow(t testing.TB, h netns.Host, rate string) {
	t.Helper()
	onHost(t, h, "tc qdisc replace dev eth0 root tbf rate "+rate+" burst 32kb latency 50ms")
}

// fast ends slow.
func fast(t testing.TB, h netns.Host) {
	t.Helper()
	onHost(t, h, "tc qdisc del dev eth0 root")
}

// onHost runs a line on a host.
func onHost(t testing.TB, h netns.Host, line string) {
	t.Helper()
	argv := h.Command(strings.Fields(line)...)
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", line, err, out)
	}
}
