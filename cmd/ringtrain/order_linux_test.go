package main

import (
	"os/exec"
	"strings"
	"testing"

	"ringtrain/ring/ringtest/netns"
)

// TestRingVisitsHostsOnce trains on two hosts with alternating ranks, as with mpirun
// --map-by node. It verifies that the ring leaves each host once, that replicas agree,
// and that the order is reported.
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
		told   string // in the decision; "": none
	}{
		{"in order", []int{0, 0, 1, 1}, "auto", ""},
		{"alternating", []int{0, 1, 0, 1}, "auto", "0,2,1,3"},
		{"alternating, by rank", []int{0, 1, 0, 1}, "rank", ""},
		{"alternating, as given", []int{0, 1, 0, 1}, "2,0,3,1", ""},
	} {
		e := newBox(t).startOnHosts(hosts, run.layout, append(job, "--set", "allreduce.order="+run.order)...).trained()
		sent[run.name] = e.only(t, "done").num("sent_between_hosts_bytes")
		told := ""
		for _, v := range e.events(t) {
			if v.name() == "decision" && v.text("what") == "order" {
				told = v.text("choice")
			}
		}
		if told != run.told {
			t.Errorf("%s: a decision says order %q, want %q", run.name, told, run.told)
		}
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

// TestRingAvoidsSlowPair trains on four hosts, two of which have a slow connection. It
// verifies that the measured order avoids the pair and is reported, and that a resumed
// run uses the same order without a measurement.
func TestRingAvoidsSlowPair(t *testing.T) {
	long(t)
	hosts, b := newHosts(t, 4, ""), newBox(t)
	slowPair(t, hosts[1], hosts[2], "20mbit")
	job := func(steps int, more ...string) []string {
		return digitsMLP(64, steps, append([]string{"--set", "allreduce.codec=none"}, more...)...)
	}
	first := b.startOnHosts(hosts, fourHosts, job(10)...).trained()
	d := first.decision(t, "order")
	order := d.text("choice")
	if strings.Contains("0,"+order+",0", "1,2") || strings.Contains(order, "2,1") || !strings.Contains(d.text("why"), "slowest hop") {
		t.Errorf("decision %v, want an order in which 1 and 2 are no neighbours", d)
	}
	t.Log(order, d.text("why"))
	second := b.startOnHosts(hosts, fourHosts, job(20, "--resume", "must")...).trained()
	if d := second.decision(t, "order"); d.text("choice") != order || !strings.Contains(d.text("why"), "kept") {
		t.Errorf("resumed: decision %v, want order %s, kept", d, order)
	}
	whole := newBox(t).startOnHosts(hosts, fourHosts, job(20, "--set", "allreduce.order="+order)...).trained()
	if second.digest(t) != whole.digest(t) {
		t.Errorf("10 steps and 10 more end with digest %s, 20 in the order given with %s", second.digest(t), whole.digest(t))
	}
}
