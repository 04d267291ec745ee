package main

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/token"
)

// withToken returns b with a token for all processes.
func (b *box) withToken() *box { return b.with("RINGTRAIN_TOKEN=" + token.New().Reveal()) }

// meetingPlace returns the rendezvous in the start event of p.
func (p *testProcess) meetingPlace() string {
	p.t.Helper()
	p.await(`"event":"start"`)
	at := regexp.MustCompile(`"rendezvous":"([^"]+)"`).FindStringSubmatch(p.stdout.String())
	if at == nil {
		p.t.Fatalf("no rendezvous in %s", p.stdout.String())
	}
	return at[1]
}

// TestStatusCommand verifies the status of a running job, and that it requires the
// token.
func TestStatusCommand(t *testing.T) {
	long(t)
	b := newBox(t).withToken()
	p := b.start(append([]string{"run", "-np", "3"}, endless("--json")...)...)
	at := p.meetingPlace()
	p.await(`"event":"step"`)
	type rank struct {
		Rank, PID int
		Present   bool
		Phase     string
	}
	type status struct {
		JobID      string `json:"job_id"`
		Phase      string
		Generation uint64
		WorldSize  int `json:"world_size"`
		Present    int
		Step       int64
		StepsPerS  float64 `json:"steps_per_s"`
		Ranks      []rank
	}
	var job status
	eventually(t, patience, "all ranks train", func() bool {
		line := b.must(0, "status", at, "--json").stdout
		job = status{}
		if err := json.Unmarshal([]byte(line), &job); err != nil || strings.Count(line, "\n") != 1 {
			t.Fatalf("%v in %q", err, line)
		}
		return job.Step > 0 && job.StepsPerS > 0
	})
	if job.Phase != "running" || job.Generation != 1 || job.WorldSize != 3 || job.Present != 3 || len(job.Ranks) != 3 {
		t.Errorf("job is %+v", job)
	}
	for i, r := range job.Ranks {
		if r.Rank != i || !r.Present || r.PID != b.rankPID(i) || r.Phase != "train" {
			t.Errorf("rank %d is %+v", i, r)
		}
	}
	table := strings.Split(b.must(0, "status", at, "--job-id", job.JobID).stdout, "\n")
	head := regexp.MustCompile(`^job \S+  running  generation 1  world size 3  step \d+  \S+ steps/s  3 present, 0 missing`)
	if len(table) < 5 || !head.MatchString(table[0]) {
		t.Errorf("table is %q", table)
	}
	b.must(138, "status", at, "--job-id", "another")
	b.withToken().must(77, "status", at)
	if e := b.must(138, "status", "127.0.0.1:"+strconv.Itoa(freePorts(t, 1)[0])); !strings.Contains(e.last(), "connection refused") {
		t.Errorf("last line %q, want the reason", e.last())
	}
	watch := b.start("status", at, "--watch")
	watch.await("3 present")
	p.signal(syscall.SIGTERM)
	if e := watch.wait(); e.code != 0 {
		t.Errorf("--watch ended with %d\n%s", e.code, e.stderr)
	}
	p.wait()
}

// TestStoppedForAWhile suspends a rank under a long lease until it is named, and resumes
// it. It verifies that the wait is reported once and the job continues.
func TestStoppedForAWhile(t *testing.T) {
	long(t)
	b := newBox(t)
	p := b.start(append([]string{"run", "-np", "3", "--lease", "60s"}, endless()...)...)
	p.await("step 20 ")
	pid := b.rankPID(2)
	kill(t, pid, syscall.SIGSTOP)
	p.await("\n2 of 3 ranks wait for rank 2: host=") // the launcher's report
	kill(t, pid, syscall.SIGCONT)
	before := strings.Count(p.stdout.String(), "step ")
	eventually(t, patience, "training goes on", func() bool { return strings.Count(p.stdout.String(), "step ") > before+2 })
	p.signal(syscall.SIGTERM)
	e := p.wait()
	if e.code != 143 {
		t.Errorf("ended with %d and %q, want 143", e.code, e.last())
	}
	if strings.Contains(e.stderr, "] 2 of 3 ranks wait for ") {
		t.Errorf("a rank says what the launcher says\n%s", e.stderr)
	}
	b.nothingLeft(5*time.Second, nil)
}

// TestOneWayPartition drops all packets from host 1 to host 2 in mid-run while both
// still send heartbeats. It verifies that the job ends within seconds and names the
// right ranks.
func TestOneWayPartition(t *testing.T) {
	long(t)
	hosts := newHosts(t, 3, "")
	b := newBox(t)
	b.limit = 3 * patience // five generations try to open the link, for ten seconds each
	c := b.startOnHosts(hosts, []int{0, 1, 2}, append(longDigits(), "--set", "train.steps=1000000000", "--set", "log.every=10s", "--set", "allreduce.algorithm=ring")...)
	c.ranks[0].await(`"event":"step"`)
	silence(t, hosts[1], hosts[2])
	for rank, p := range c.ranks {
		if e := p.wait(); e.code != 138 || !strings.Contains(e.last(), "1 -> 2") && !strings.Contains(e.last(), "rank 1") && !strings.Contains(e.last(), "rank 2") {
			t.Errorf("rank %d ended with %d and %q, want 138 and one of the pair named", rank, e.code, e.last())
		} else {
			t.Log(e.last())
		}
	}
}
