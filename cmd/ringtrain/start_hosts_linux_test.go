package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/token"
)

// eachOwn returns a layout of n ranks on n hosts.
func eachOwn(n int) []int {
	layout := make([]int, n)
	for rank := range layout {
		layout[rank] = rank
	}
	return layout
}

// spread returns a layout of n ranks on hosts in turn.
func spread(n, hosts int) []int {
	layout := make([]int, n)
	for rank := range layout {
		layout[rank] = rank % hosts
	}
	return layout
}

// TestS5TwoHosts starts rank 12 a second time on another host. It verifies that the
// second process is refused with the holder of its rank.
func TestS5TwoHosts(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	hosts, b := newHosts(t, 2, ""), newBox(t)
	layout := spread(20, 2)
	secret := "RINGTRAIN_TOKEN=" + token.New().Reveal()
	start := func(rank, host int) *testProcess {
		line := hosts[host].Command(self(b), "train", "linear", "--json")
		place := b.with("RANK="+strconv.Itoa(rank), "WORLD_SIZE=20", "MASTER_ADDR="+hosts[0].Addr, "MASTER_PORT=29400", secret)
		return place.startProgram(line[0], line[1:]...)
	}
	c := &crowd{box: b}
	for rank := range 19 {
		c.ranks = append(c.ranks, start(rank, layout[rank]))
	}
	c.ranks[0].await("waiting: 19 of 20 present")
	second := start(12, 1-layout[12])
	e := second.wait()
	within(t, "the refusal", 0, 10*time.Second, second.endedAt.Sub(second.began))
	if e.code != 138 || !namesRank(e.last(), 12) || !strings.Contains(e.last(), hosts[layout[12]].Addr) || !strings.Contains(e.last(), "joined ") {
		t.Errorf("the second rank 12 ended with %d and %q, want 138, and from where and since when the first is there", e.code, e.last())
	}
	c.ranks[0].await("refused")
	c.ranks = append(c.ranks, start(19, layout[19]))
	if got := c.trained().digest(t); got != alone(t) {
		t.Errorf("digest %s, want that of an undisturbed run", got)
	}
}

// TestS7Hosts lists rank 3 at a host that drops packets, and at one where it listens on
// the loopback only; and a loopback address among those of other hosts. It verifies the
// reports.
func TestS7Hosts(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	const wrong = 3
	for _, tt := range []struct {
		id, want string
		limit    time.Duration
	}{
		{"S7c", "connect timeout", 30 * time.Second},
		{"S7h", "connection refused", 30 * time.Second},
		{"S7g", "cluster.worker[3] is localhost:29403, a loopback address among those of other hosts", 30 * time.Second},
	} {
		t.Run(caseName(tt.id), func(t *testing.T) {
			t.Parallel()
			hosts := newHosts(t, 4, "")
			b := newBox(t).with("RINGTRAIN_TOKEN=" + token.New().Reveal())
			var workers []string
			for rank, h := range hosts {
				workers = append(workers, fmt.Sprintf("%s:%d", h.Addr, 29400+rank))
			}
			begin, ranks := time.Now(), []*testProcess{}
			if tt.id == "S7g" {
				workers[wrong] = "localhost:29403"
			}
			for rank, h := range hosts {
				line := []string{self(b), "train", "linear", "--start-timeout", "8s", "--json"}
				switch {
				case rank == wrong && tt.id == "S7h":
					line = append(line, "--listen", "127.0.0.1:29403")
				case rank == wrong && tt.id == "S7c":
					silence(t, hosts[0], h)
					continue
				case rank == wrong:
					continue
				}
				line = h.Command(line...)
				ranks = append(ranks, b.with(tfConfigOf(workers, rank)).startProgram(line[0], line[1:]...))
			}
			ranks[0].await(tt.want)
			within(t, "rank 0's word", 0, tt.limit, time.Since(begin))
			for rank, p := range ranks {
				if e := p.wait(); rank != wrong && (e.code != 138 || !strings.Contains(e.last(), workers[wrong])) {
					t.Errorf("rank %d ended with %d and %q, want 138 and %s\n%s", rank, e.code, e.last(), workers[wrong], e.stderr)
				}
			}
		})
	}
}

// withHosts returns a command line that sees a file in place of /etc/hosts.
func withHosts(file string, argv ...string) []string {
	return append([]string{"unshare", "-m", "sh", "-c", `mount --bind "$0" /etc/hosts && exec "$@"`, file}, argv...)
}

// TestS8LateName verifies a join if the name of rank 0's host resolves late and changes
// its address, as for a rescheduled pod.
func TestS8LateName(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	for _, program := range []string{"unshare", "mount"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	for name, before := range map[string]string{"late": "127.0.0.1 localhost", "moved": "127.0.0.9 rank0.test"} {
		t.Run(caseName("S8", name), func(t *testing.T) {
			t.Parallel()
			b, port := newBox(t).with("RINGTRAIN_TOKEN="+token.New().Reveal()), freePorts(t, 1)[0]
			const name0 = "rank0.test"
			b.write("own", "127.0.0.1 "+name0+"\n") // a pod knows its own name
			b.write("all", before+"\n")
			var ranks []*testProcess
			for rank := range 20 {
				file := b.path("all")
				if rank == 0 {
					file = b.path("own")
				}
				place := b.with("RANK="+strconv.Itoa(rank), "WORLD_SIZE=20", "MASTER_ADDR="+name0, "MASTER_PORT="+strconv.Itoa(port))
				line := withHosts(file, self(b), "train", "linear", "--start-timeout", "40s", "--json")
				if rank == 0 {
					line = append(line, "--listen", "127.0.0.1:"+strconv.Itoa(port))
				}
				ranks = append(ranks, place.startProgram(line[0], line[1:]...))
			}
			ranks[1].await("waiting")
			if e, _ := ranks[1].stderr.snapshot(); strings.Contains(e, "mount:") {
				t.Skip("no mounts here: " + e)
			}
			pause(6 * time.Second)
			at := time.Now()
			if err := os.WriteFile(b.path("all"), []byte("127.0.0.1 "+name0+"\n"), 0o666); err != nil { // in place, because it is mounted
				t.Fatal(err)
			}
			c := &crowd{box: b, ranks: ranks}
			e := c.trained()
			within(t, "the start after the name's coming", 5*time.Second, 20*time.Second, e.only(t, "start").at().Sub(at))
		})
	}
}

// TestS9Pair cuts the connection between two of 20 hosts that reach all others. It
// verifies that the pair is named.
func TestS9Pair(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	hosts := newHosts(t, 20, "")
	silence(t, hosts[12], hosts[13])
	silence(t, hosts[13], hosts[12])
	at := time.Now()
	c := newBox(t).startOnHosts(hosts, eachOwn(20), "linear", "--start-timeout", "60s", "--json", "--set", "allreduce.algorithm=ring")
	for rank, p := range c.ranks {
		e := p.wait()
		if e.code != 138 || !strings.Contains(e.last(), "12 -> 13 at "+hosts[13].Addr) || !strings.Contains(e.last(), "timeout") {
			t.Errorf("rank %d ended with %d and %q, want 138 and 12 -> 13 at %s: connect timeout", rank, e.code, e.last(), hosts[13].Addr)
		}
	}
	within(t, "the end of all", 0, 60*time.Second, time.Since(at))
	if files := c.files(); len(files) > 0 {
		t.Errorf("a job that never began wrote %v", files)
	}
}

// TestS10Proxies verifies that workers ignore the variables of proxies.
func TestS10Proxies(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	hosts := newHosts(t, 3, "")
	proxy := "http://" + net.JoinHostPort(hosts[2].Addr, "3128")
	b := newBox(t)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "GRPC_PROXY"} {
		b = b.with(name+"="+proxy, strings.ToLower(name)+"="+proxy)
	}
	silence(t, hosts[0], hosts[2])
	silence(t, hosts[1], hosts[2])
	e := b.startOnHosts(hosts, spread(20, 2), "linear", "--json", "--resume", "never", "--set", "checkpoint.dir=").trained()
	if got := e.digest(t); got != alone(t) {
		t.Errorf("digest %s, want that of an undisturbed run", got)
	}
}

// TestS15Versions verifies that a rank of another version is refused with both versions.
func TestS15Versions(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	b := newBox(t)
	other := filepath.Join(b.home, "ringtrain")
	build := exec.Command("go", "build", "-ldflags", "-X main.version=9.9.9", "-o", other, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build another version: %v\n%s", err, out)
	}
	port, ranks := freePorts(t, 1)[0], []*testProcess{}
	for rank := range 20 {
		program := self(b)
		if rank == 12 {
			program = other
		}
		ranks = append(ranks, b.with(rankVariables(rank, 20, port)...).startProgram(program, "train", "linear", "--start-timeout", "20s"))
	}
	for rank, p := range ranks {
		e := p.wait()
		if e.code != 76 || !strings.Contains(e.last(), "9.9.9") || !strings.Contains(e.last(), version) || !namesRank(e.last(), 12) {
			t.Errorf("rank %d ended with %d and %q, want 76, rank 12 and the versions 9.9.9 and %s", rank, e.code, e.last(), version)
		}
	}
}
