package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/ringtest/netns"
	"ringtrain/ring/token"
)

// newHosts makes hosts that are network namespaces and removes them after the test. It
// skips the test if namespaces are not permitted.
func newHosts(t *testing.T, n int, rate string) []netns.Host {
	t.Helper()
	return newNet(t, netns.Config{Hosts: n, Rate: rate}).Hosts()
}

// newNet is newHosts for any network.
func newNet(t *testing.T, c netns.Config) *netns.Net {
	t.Helper()
	if err := netns.Available(); err != nil {
		t.Skip(err)
	}
	net, err := netns.New(t.Context(), c)
	if errors.Is(err, netns.ErrUnavailable) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := net.Close(); err != nil {
			t.Error(err)
		}
	})
	return net
}

// startOnHosts starts train on hosts[layout[r]] for each rank r. Rank 0 serves the
// rendezvous.
func (b *box) startOnHosts(hosts []netns.Host, layout []int, args ...string) *crowd {
	b.Helper()
	return b.startArgvOnHosts(hosts, layout, append([]string{self(b), "train"}, args...))
}

// startArgvOnHosts is startOnHosts for a program.
func (b *box) startArgvOnHosts(hosts []netns.Host, layout []int, argv []string) *crowd {
	b.Helper()
	return b.startEach(hosts, layout, argv, func(place *box, line []string) *testProcess {
		return place.startProgram(line[0], line[1:]...)
	})
}

// startEach calls start for each rank.
func (b *box) startEach(hosts []netns.Host, layout []int, argv []string, start func(place *box, line []string) *testProcess) *crowd {
	b.Helper()
	c := &crowd{box: b}
	secret := "RINGTRAIN_TOKEN=" + token.New().Reveal()
	for rank, h := range layout {
		place := b.with("RANK="+strconv.Itoa(rank), "WORLD_SIZE="+strconv.Itoa(len(layout)),
			"MASTER_ADDR="+hosts[layout[0]].Addr, "MASTER_PORT=29400", secret)
		p := start(place, hosts[h].Command(argv...))
		c.ranks = append(c.ranks, p)
		c.pids = append(c.pids, p.cmd.Process.Pid)
	}
	return c
}

// trained waits until all ranks have succeeded with one digest, and returns the result
// of rank 0.
func (c *crowd) trained() ended {
	c.Helper()
	var first ended
	for rank, p := range c.ranks {
		e := p.wait()
		if rank == 0 {
			first = e
		}
		if e.code != 0 || e.last() != first.last() || !strings.HasPrefix(e.last(), "digest=") {
			c.Fatalf("rank %d ended with %d and %q, want 0 and the digest of rank 0, %q\n%s", rank, e.code, e.last(), first.last(), e.stderr)
		}
	}
	return first
}

// digitsMLP is a job on drawn digits with large gradients.
func digitsMLP(hidden, steps int, more ...string) []string {
	return digits(steps, append([]string{
		"--set", "model.kind=mlp", "--set", "model.hidden=[" + strconv.Itoa(hidden) + "]", "--set", "export.savedmodel=",
	}, more...)...)
}

// TestTwoLevels verifies, for layouts of hosts and ranks, that replicas agree, runs
// repeat, and the reported levels are used.
func TestTwoLevels(t *testing.T) {
	hosts := newHosts(t, 3, "")
	for i, layout := range [][]int{{0, 0, 1, 1}, {0, 0, 0, 1}, {0, 1, 2, 2}, {0, 1, 0, 1}, {0, 1, 2}} {
		if i > 0 && short(t) {
			break
		}
		t.Run("layout="+fmt.Sprint(layout), func(t *testing.T) {
			job := digitsMLP(64, 20, "--set", "allreduce.codec=none", "--set", "checkpoint.dir=")
			want := newBox(t).startOnHosts(hosts, layout, job...).trained()
			again := newBox(t).startOnHosts(hosts, layout, job...).trained()
			if again.digest(t) != want.digest(t) {
				t.Errorf("the same run again ends with digest %s, want %s", again.digest(t), want.digest(t))
			}
			distinct := slices.Compact(slices.Sorted(slices.Values(layout)))
			levels, link := "two", "shm+tcp"
			if len(distinct) == len(layout) {
				levels, link = "flat", "tcp"
			}
			start := want.only(t, "start")
			if start.text("levels") != levels || start.text("link") != link || start.num("hosts") != float64(len(distinct)) {
				t.Errorf("levels %v, link %v, hosts %v; want %s, %s, %d", start["levels"], start["link"], start["hosts"], levels, link, len(distinct))
			}
		})
	}
}

// TestTwoLevelsSendLess verifies that two hosts with two ranks each exchange at most 2/3
// of the bytes of a flat ring of four.
func TestTwoLevelsSendLess(t *testing.T) {
	long(t)
	hosts := newHosts(t, 2, "")
	sent := map[string]float64{}
	for _, levels := range []string{"auto", "flat"} {
		job := digitsMLP(64, 50, "--set", "allreduce.codec=none", "--set", "allreduce.algorithm=ring",
			"--set", "allreduce.levels="+levels, "--set", "checkpoint.dir=")
		e := newBox(t).startOnHosts(hosts, []int{0, 0, 1, 1}, job...).trained()
		start, done := e.only(t, "start"), e.only(t, "done")
		if got, want := start.text("levels"), map[string]string{"auto": "two", "flat": "flat"}[levels]; got != want {
			t.Errorf("allreduce.levels %s: levels %s, want %s", levels, got, want)
		}
		if start.text("link") != map[string]string{"auto": "shm+tcp", "flat": "tcp"}[levels] {
			t.Errorf("allreduce.levels %s: link %s", levels, start.text("link"))
		}
		sent[levels] = done.num("sent_between_hosts_bytes")
	}
	if ratio := sent["auto"] / sent["flat"]; ratio < 0.65 || ratio > 0.68 {
		t.Errorf("sent between hosts: %.0f bytes on two levels, %.0f flat, a ratio of %.3f; want 2/3", sent["auto"], sent["flat"], ratio)
	}
}

// TestKilledOnHosts kills a rank by -9 while ranks of its host wait in memory and ranks
// of other hosts wait for them. It verifies that all name the killed rank.
func TestKilledOnHosts(t *testing.T) {
	hosts := newHosts(t, 2, "")
	var firsts []time.Duration
	for i, tt := range []struct {
		layout []int
		victim int
		who    string
	}{
		{[]int{0, 0, 1, 1}, 2, "driver of another host"},
		{[]int{0, 0, 1, 1}, 3, "second driver of another host"},
		{[]int{0, 0, 1, 1}, 1, "second driver beside the rendezvous"},
		{[]int{0, 0, 1, 1}, 0, "driver with the rendezvous"},
		{[]int{0, 1, 1, 1}, 3, "no driver"},
		{[]int{0, 1, 1, 1}, 1, "only driver of another host"},
		{[]int{0, 0, 0, 1}, 2, "no driver beside the rendezvous"},
	} {
		if i > 0 && short(t) {
			break
		}
		t.Run(fmt.Sprintf("layout=%v/victim=%d", tt.layout, tt.victim), func(t *testing.T) {
			c := newBox(t).startOnHosts(hosts, tt.layout, inMemory()...)
			c.ranks[0].await("step 10 ")
			b := c.strike(tt.victim, syscall.SIGKILL)
			c.wantCulprit(c.wait(tt.victim), tt.victim)
			within(t, "all others' words on the "+tt.who, 2*time.Second, 20*time.Second, <-b.named)
			firsts = append(firsts, b.firstNamed()...)
			c.nothingLeft(5*time.Second, c.pids)
		})
	}
	wantNamed(t, time.Second, killedNamed, firsts)
}

// TestStoppedOnHosts stops a rank by SIGSTOP. It verifies that all name the stopped
// rank, not the ranks that wait for it.
func TestStoppedOnHosts(t *testing.T) {
	long(t)
	t.Parallel() // parallel with the other tests that wait
	hosts := newHosts(t, 4, "")
	type stopped struct {
		*crowd
		*blow
	}
	var jobs []stopped
	for _, tt := range []struct {
		layout []int
		victim int
	}{
		{[]int{0, 0, 1, 1}, 3}, // a driver
		{[]int{2, 3, 3, 3}, 2}, // none
	} {
		c := newBox(t).startOnHosts(hosts, tt.layout, inMemory()...)
		c.ranks[0].await("step 10 ")
		jobs = append(jobs, stopped{c, c.strike(tt.victim, syscall.SIGSTOP)})
	}
	var firsts []time.Duration
	for _, j := range jobs {
		j.wantCulprit(j.wait(j.victim), j.victim)
		firsts = append(firsts, j.firstNamed()...)
		within(t, fmt.Sprintf("all others' words on rank %d", j.victim), 7*time.Second, 30*time.Second, <-j.named)
		j.ranks[j.victim].signal(syscall.SIGKILL)
		j.nothingLeft(5*time.Second, j.pids)
	}
	wantNamed(t, 5*time.Second, stoppedNamed, firsts)
}
