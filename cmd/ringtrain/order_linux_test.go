package main

import (
	"os/exec"
	"strings"
	"testing"

	"ringtrain/ring/ringtest/netns"
)

// TestRingVisitsHostsOnce trains on two hosts with alternating ranks, as with mpirun
// --map-by node. It verifies that the ring leaves each host once, and that replicas agree.
func TestRingVisitsHostsOnce(t *testing.T) {
	long(t)
	hosts := newHosts(t, 2, "")
	job := digitsMLP(64, 20, "--set", "allreduce.codec=none", "--set", "allreduce.algorithm=ring",
		"--set", "allreduce.levels=flat", "--set", "checkpoint.dir=")
	sent := map[string]float64{}
	for _, run := range []struct {
		name   string
		layout []int
		order  string
	}{
		{"in order", []int{0, 0, 1, 1}, "auto"},
		{"alternating", []int{0, 1, 0, 1}, "auto"},
		{"alternating, by rank", []int{0, 1, 0, 1}, "rank"},
		{"alternating, as given", []int{0, 1, 0, 1}, "2,0,3,1"},
	} {
		e := newBox(t).startOnHosts(hosts, run.layout, append(job, "--set", "allreduce.order="+run.order)...).trained()
		sent[run.name] = e.only(t, "done").num("sent_between_hosts_bytes")
	}
	for name, want := range map[string]float64{"alternating": 1, "alternating, as given": 1, "alternating, by rank": 2} {
		if ratio := sent[name] / sent["in order"]; ratio < want*0.95 || ratio > want*1.05 {
			t.Errorf("%s: %.0f bytes between hosts, %.2f times those of ranks in order, want %g", name, sent[name], ratio, want)
		}
	}
}

// slowPair connects two hosts with a slow wire that only their traffic uses.
func slowPair(t *testing.T, a, b netns.Host, rate string) {
	t.Helper()
	run := func(h netns.Host, line string) {
		argv := h.Command(strings.Fields(line)...)
		if out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
	}
	path := strings.TrimPrefix(b.Command("true")[1], "--net=")
	run(a, "ip link add slow0 type veth peer name slow0 netns "+path)
	for _, way := range [][2]netns.Host{{a, b}, {b, a}} {
		run(way[0], "ip link set slow0 up")
		run(way[0], "ip route add "+way[1].Addr+"/32 dev slow0 src "+way[0].Addr)
		run(way[0], "tc qdisc add dev slow0 root tbf rate "+rate+" burst 128kb latency 50ms")
	}
}

// TestDoctorFindsOrder examines four hosts, two of which have a slow connection. It verifies that
// doctor prints an order of the ring that avoids the pair, and that a job takes it.
func TestDoctorFindsOrder(t *testing.T) {
	long(t)
	hosts := newHosts(t, 4, "")
	slowPair(t, hosts[1], hosts[2], "20mbit")
	b := newBox(t)
	best := ""
	for rank, p := range b.startArgvOnHosts(hosts, fourHosts, []string{self(b), "doctor", "--start-timeout", "20s"}).ranks {
		if e := p.wait(); rank == 0 {
			best = e.stdout
		}
	}
	_, best, _ = strings.Cut(best, "--set allreduce.order=")
	order, why, _ := strings.Cut(best, " ")
	if len(order) != len("0,1,2,3") || strings.Contains("0,"+order+",0", "1,2") || strings.Contains(order, "2,1") || !strings.Contains(why, "by order of host") {
		t.Errorf("best order is %q %q, want one in which 1 and 2 are no neighbours", order, why)
	}
	b.startOnHosts(hosts, fourHosts, digitsMLP(64, 10, "--set", "allreduce.order="+order)...).trained()
}
