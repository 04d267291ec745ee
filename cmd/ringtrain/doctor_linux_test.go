package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/ringtest/netns"
)

// deafen drops the packets that host sends to another one, without an error.
func deafen(t *testing.T, host, to netns.Host) {
	t.Helper()
	argv := host.Command("ip", "neigh", "replace", to.Addr, "lladdr", "02:00:00:00:00:99", "dev", "eth0", "nud", "permanent")
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
}

// faults returns the findings of a verdict except warnings: on a busy machine links look
// uneven.
func (e event) faults() []string {
	var list []string
	for _, f := range e.list("findings") {
		if f := event(f.(map[string]any)); f.num("exit_code") != 0 {
			list = append(list, f.text("text"))
		}
	}
	return list
}

// TestDoctorPairCut cuts the connection between two of three hosts, which both reach the
// third. It verifies that doctor names only this pair.
func TestDoctorPairCut(t *testing.T) {
	for i, cut := range [][2]int{{1, 2}, {2, 0}} {
		if i > 0 && short(t) {
			break
		}
		t.Run(fmt.Sprintf("pair=%v", cut), func(t *testing.T) {
			t.Parallel()
			hosts := newHosts(t, 3, "")
			deafen(t, hosts[cut[0]], hosts[cut[1]])
			b := newBox(t)
			layout := []int{0, 1, 2}
			if cut[1] == 0 {
				layout = []int{1, 0, 2} // all ranks reach the rendezvous; rank 1 cannot reach rank 2
				cut = [2]int{2, 1}
			}
			c := b.startArgvOnHosts(hosts, layout, []string{self(b), "doctor", "--json", "--start-timeout", "20s"})
			for rank, p := range c.ranks {
				e := p.wait()
				if e.code != 138 {
					t.Errorf("rank %d ended with %d, want 138\n%s", rank, e.code, e.stderr)
				}
				if rank > 0 {
					if !strings.Contains(e.last(), ": connect timeout") || !strings.Contains(e.last(), "link rank ") {
						t.Errorf("rank %d ends with %q, want the link", rank, e.last())
					}
					continue
				}
				for _, p := range e.ofKind(t, "pair") {
					from, to := int(p.num("from")), int(p.num("to"))
					broken := from == cut[0] && to == cut[1] || from == cut[1] && to == cut[0]
					if got := p.text("fault"); broken != (got == "connect timeout") || broken == (p.num("bytes_per_s") > 0) {
						t.Errorf("pair %d -> %d: fault %q and %.0f bytes/s, want broken=%v", from, to, got, p.num("bytes_per_s"), broken)
					}
				}
				if v := e.only(t, "verdict"); v.num("exit_code") != 138 || len(v.faults()) != 2 {
					t.Errorf("verdict is %v, want both ways of the pair and nothing else", v)
				}
			}
		})
	}
}

// TestDoctorSlowHost verifies that doctor names one of four hosts that has 100 Mbit/s
// instead of 1 Gbit/s. It may look three times: other load on the machine slows a pair down, too.
func TestDoctorSlowHost(t *testing.T) {
	long(t)
	hosts := newHosts(t, 4, "1gbit")
	argv := hosts[3].Command("tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", "100mbit", "burst", "64kb", "latency", "50ms")
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, out)
	}
	const slow = "warning: rank 3 on "
	var said string
	for range 3 {
		b := newBox(t)
		c := b.startArgvOnHosts(hosts, []int{0, 1, 2, 3}, []string{self(b), "doctor"})
		for rank, p := range c.ranks {
			e := p.wait()
			if e.code != 0 {
				t.Errorf("rank %d ended with %d, want 0: slow is no fault\n%s", rank, e.code, e.stderr)
			}
			if rank == 0 {
				said = e.stdout
			}
		}
		if strings.Contains(said, slow) && strings.Count(said, "warning: ") == strings.Count(said, slow) {
			return
		}
	}
	t.Errorf("want %q, and no other rank blamed\n%s", slow, said)
}

// TestSSHDoctor verifies the examination over ssh: without a fault, with a host without
// sshd, and with a cut pair.
func TestSSHDoctor(t *testing.T) {
	c := newCluster(t, 4, 3)
	doctor := func(n int, args ...string) ended {
		var list []string
		for _, h := range c.hosts[:n] {
			list = append(list, h.Addr)
		}
		argv := c.hosts[0].Command(append([]string{self(c.box), "doctor", "--ssh", c.ssh, "-H", strings.Join(list, ",")}, args...)...)
		return c.startProgram(argv[0], argv[1:]...).wait()
	}
	if e := doctor(3); e.code != 0 || !strings.Contains(e.stdout, "all 3 workers reach each other, both ways\n") {
		t.Errorf("ended with %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	e := doctor(4, "--json")
	if v := e.only(t, "verdict"); e.code != 138 || !strings.Contains(fmt.Sprint(v["findings"]), "host "+c.hosts[3].Addr+" cannot be reached") {
		t.Errorf("a host without sshd: ended with %d and %v", e.code, v)
	}
	e = doctor(4)
	if !strings.Contains(e.stdout, "all 3 workers reach each other, both ways\n") || e.code != 138 || !strings.Contains(e.last(), "host "+c.hosts[3].Addr+" cannot be reached") {
		t.Errorf("a host without sshd: ended with %d, want the findings of the others\n%s%s", e.code, e.stdout, e.stderr)
	}
	deafen(t, c.hosts[1], c.hosts[2])
	e = doctor(3, "--json")
	if v := e.only(t, "verdict"); e.code != 138 || len(v.faults()) != 2 || !strings.HasSuffix(v.faults()[0], ": connect timeout") {
		t.Errorf("a pair cut: ended with %d and %v\n%s", e.code, v, e.stderr)
	}
	c.nothingLeft(5*time.Second, nil)
}
