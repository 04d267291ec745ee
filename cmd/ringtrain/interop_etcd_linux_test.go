package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ringtrain/ring/rendezvous/etcd"
)

// An electorate is a job on its own etcd.
type electorate struct {
	*box
	etcd   string // client address
	peers  string // peer address, unused
	server *testProcess
	listen []int // port of each rank
	job    []string
}

func newElectorate(t *testing.T, size int, job []string) *electorate {
	t.Helper()
	if _, err := exec.LookPath("etcd"); err != nil || os.Getenv("INTEROP") == "" {
		t.Skip("set INTEROP=1 and install etcd (Debian's etcd-server) to meet on it, as make interop does")
	}
	ports := freePorts(t, size+2)
	e := &electorate{
		box: newBox(t).lasting(2 * patience), etcd: "127.0.0.1:" + strconv.Itoa(ports[size]), peers: "http://127.0.0.1:" + strconv.Itoa(ports[size+1]),
		listen: ports[:size], job: job,
	}
	e.serve()
	return e
}

// serve starts etcd, or restarts it on its data.
func (e *electorate) serve() {
	e.Helper()
	e.server = e.startProgram("etcd", "--name", "e1", "--data-dir", e.path("etcd"), "--listen-client-urls", "http://"+e.etcd,
		"--advertise-client-urls", "http://"+e.etcd, "--listen-peer-urls", e.peers, "--initial-advertise-peer-urls", e.peers,
		"--initial-cluster", "e1="+e.peers, "--logger", "zap", "--log-level", "error")
}

// place returns the rendezvous address of the ranks.
func (e *electorate) place() string { return "etcd://" + e.etcd + "/ringtrain/test" }

// rank starts the process of a rank.
func (e *electorate) rank(rank int) *testProcess {
	e.Helper()
	b := e.with("RINGTRAIN_RANK="+strconv.Itoa(rank), "RINGTRAIN_WORLD_SIZE="+strconv.Itoa(len(e.listen)))
	args := []string{
		"train", "--rendezvous", e.place(), "--job-id", "j", "--restarts", "1",
		"--listen", "127.0.0.1:" + strconv.Itoa(e.listen[rank]),
	}
	return b.start(append(args, e.job...)...)
}

func (e *electorate) ranks() []*testProcess {
	e.Helper()
	var all []*testProcess
	for rank := range e.listen {
		all = append(all, e.rank(rank))
	}
	return all
}

// coordinator returns the rank that serves the rendezvous.
func (e *electorate) coordinator() int {
	e.Helper()
	at, err := etcd.ParseAddress(e.place() + "/train")
	if err != nil {
		e.Fatal(err)
	}
	c, err := etcd.Open(etcd.Config{Address: at, JobID: "j"})
	if err != nil {
		e.Fatal(err)
	}
	defer c.Close()
	addr, err := c.Find(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	for rank, port := range e.listen {
		if strings.HasSuffix(addr, ":"+strconv.Itoa(port)) {
			return rank
		}
	}
	e.Fatalf("the coordinator is at %q, no rank's address", addr)
	return -1
}

// manyDigits is steadyDigits with more steps, for longer disturbances.
func manyDigits() []string { return steadyDigits("--set", "train.steps=20000") }

// TestInteropEtcd verifies that a job on a real etcd survives the loss of the
// coordinator and an outage of etcd, with the same digest.
func TestInteropEtcd(t *testing.T) {
	t.Run("killed=nobody", func(t *testing.T) {
		e := newElectorate(t, 3, steadyDigits())
		want := undisturbed(t, steadyDigits())
		mustEnd(t, e.ranks(), want)
		for rank, p := range e.ranks() { // a second start with the id of a completed job
			if end := p.wait(); end.code != 0 || end.last() != "digest="+want {
				t.Errorf("again: rank %d ended with %d and %q\n%s", rank, end.code, end.last(), end.stderr)
			}
		}
	})
	t.Run("killed=coordinator", func(t *testing.T) {
		e := newElectorate(t, 3, steadyDigits())
		ranks := e.ranks()
		ranks[0].await(`"event":"step"`)
		victim := e.coordinator()
		ranks[victim].signal(syscall.SIGKILL)
		ranks[victim].wait()
		ranks[victim] = e.rank(victim) // at once; it may become the next coordinator
		mustEnd(t, ranks, undisturbed(t, steadyDigits()))
	})
	t.Run("killed=etcd", func(t *testing.T) { etcdAway(t, 3, manyDigits()) })
	t.Run("killed=etcd+rank", func(t *testing.T) {
		e := newElectorate(t, 3, manyDigits())
		ranks := e.ranks()
		ranks[0].await(`"event":"step"`)
		victim := (e.coordinator() + 1) % 3
		e.server.signal(syscall.SIGKILL)
		e.server.wait()
		ranks[victim].signal(syscall.SIGKILL)
		ranks[victim].wait()
		ranks[(victim+1)%3].await("training goes on, trying again")
		e.serve()
		ranks[(victim+1)%3].await("is back after")
		ranks[(victim+1)%3].await(" (lost rank " + strconv.Itoa(victim) + " (")
		ranks[victim] = e.rank(victim)
		mustEnd(t, ranks, undisturbed(t, manyDigits()))
	})
}

// TestInteropEtcdStatus verifies that status finds jobs on a real etcd, and that --watch
// follows a job whose coordinator dies.
func TestInteropEtcdStatus(t *testing.T) {
	e := newElectorate(t, 3, endless("--json"))
	nobody := func(id string) {
		t.Helper()
		if end := e.must(138, "status", e.place(), "--job-id", id); !strings.HasSuffix(end.last(), "etcd at "+e.etcd+" knows no coordinator of job "+id+": not started yet, or ended") {
			t.Errorf("last line %q, want that nobody is elected", end.last())
		}
	}
	ranks := e.ranks()
	ranks[0].await(`"event":"step"`)
	nobody("another")
	args := append([]string{"train", "--rendezvous", e.place(), "--job-id", "k", "--set", "checkpoint.dir=k"}, endless("--json")...)
	others := e.startRanks(2, args, func(rank int) []string {
		return []string{"RINGTRAIN_RANK=" + strconv.Itoa(rank), "RINGTRAIN_WORLD_SIZE=2"}
	})
	others[0].await(`"event":"step"`)
	all := e.must(0, "status", e.place()).stdout
	for _, job := range []string{"job j  running  generation 1  world size 3  step ", "job k  running  generation 1  world size 2  step "} {
		if !strings.Contains("\n"+all, "\n"+job) {
			t.Errorf("both jobs are %q, want %q among them", all, job)
		}
	}
	watch := e.start("status", e.place(), "--watch", "--json", "--job-id", "j")
	watch.await(`"job_id":"j","phase":"running","generation":1,"world_size":3,"present":3`)
	victim := e.coordinator()
	ranks[victim].signal(syscall.SIGKILL)
	ranks[victim].wait()
	ranks[victim] = e.rank(victim)
	watch.await(`"job_id":"j","phase":"running","generation":2,"world_size":3,"present":3`)
	if job := e.must(0, "status", e.place(), "--job-id", "j").stdout; !strings.HasPrefix(job, "job j  running  generation 2  world size 3  step ") {
		t.Errorf("after the election the job is %q", job)
	}
	for _, p := range append(ranks, others...) {
		p.signal(syscall.SIGTERM)
	}
	for _, p := range append(ranks, others...) {
		if end := p.wait(); end.code != 143 {
			t.Errorf("a rank ended with %d and %q, want 143", end.code, end.last())
		}
	}
	if end := watch.wait(); end.code != 0 {
		t.Errorf("--watch ended with %d and %q, want 0", end.code, end.last())
	}
	nobody("j")
}

// etcdAway kills etcd while ranks train, and starts it again.
func etcdAway(t *testing.T, size int, job []string) {
	t.Helper()
	e := newElectorate(t, size, job)
	ranks := e.ranks()
	ranks[0].await(`"event":"step"`)
	coordinator := ranks[e.coordinator()]
	e.server.signal(syscall.SIGKILL)
	coordinator.await("etcd at " + e.etcd + ": connection refused; training goes on without it")
	e.serve()
	coordinator.await("etcd at " + e.etcd + " is back after")
	mustEnd(t, ranks, newBox(t).must(0, on(size, job)...).digest(t))
	if n := strings.Count(coordinator.stderr.String(), "training goes on without it"); n != 1 {
		t.Errorf("that etcd is away was said %d times, want once", n)
	}
}

// TestEtcdMNIST verifies the digest of the other launchers' tests on etcd, with an
// outage of etcd.
func TestEtcdMNIST(t *testing.T) {
	if os.Getenv("RINGTRAIN_MNIST") == "" {
		t.Skip("set RINGTRAIN_MNIST=1 for a job that is long enough")
	}
	etcdAway(t, 4, levelled(t))
}

// TestEtcdNotThere verifies that a wrong address of etcd ends with a clear error.
func TestEtcdNotThere(t *testing.T) {
	long(t)
	t.Parallel()
	at := "127.0.0.1:" + strconv.Itoa(freePorts(t, 1)[0])
	b := newBox(t)
	p := b.with("RINGTRAIN_RANK=0", "RINGTRAIN_WORLD_SIZE=2").
		start("train", "linear", "--rendezvous", "etcd://"+at+"/x", "--job-id", "j", "--start-timeout", "5s")
	p.await("etcd at " + at + ": connection refused")
	if e := p.wait(); e.code != 138 || !strings.Contains(e.last(), "etcd at "+at+": connection refused") {
		t.Errorf("ended with %d and %q, want 138 and etcd named", e.code, e.last())
	}
	for _, args := range [][]string{{"--rendezvous", "etcd://u:p@" + at + "/x", "--job-id", "j"}, {"--rendezvous", "etcd://" + at + "/x"}, {"--rendezvous", "etcd://" + at, "--job-id", "j"}} {
		if e := b.with("RINGTRAIN_RANK=0", "RINGTRAIN_WORLD_SIZE=2").must(64, append([]string{"train", "linear"}, args...)...); strings.Contains(e.stderr, "u:p") {
			t.Errorf("a password is shown: %s", e.last())
		}
	}
}
