package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestS1AllStart trains the job linear on 20 workers described by TF_CONFIG alone,
// started at once in any order. It verifies that they join in time and find the line of
// least squares.
func TestS1AllStart(t *testing.T) {
	t.Parallel()
	const seed = 3
	c := newListed(t, crowded(t))
	var last time.Time
	for _, rank := range rand.New(rand.NewPCG(1, 2)).Perm(crowded(t)) {
		last = c.join(rank, "train", "linear", "--json", "--set", "log.every=100", "--set", "train.seed="+strconv.Itoa(seed)).began
	}
	e := c.trained()
	took := e.named(t, "step")[0].at().Sub(last)
	within(t, "step 100 after the last start", 3*time.Second, 20*time.Second, took)
	for rank, p := range c.ranks {
		if e := p.wait(); took < 5*time.Second && e.waitingLines() > 1 {
			t.Errorf("rank %d prints %d waiting lines, want one at most\n%s", rank, e.waitingLines(), e.stderr)
		}
	}
	checkLine(t, c.box, seed)
}

// TestS2LateRanks starts two of 20 ranks late. It verifies the others' lines about
// waiting and the digest.
func TestS2LateRanks(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	late, delay := []int{12, 17}, 8*time.Second
	if inFull() {
		delay = 15 * time.Second
	}
	c := newListed(t, 20)
	begin := time.Now()
	c.joinAll(late, "train", "linear", "--json")
	all := time.Since(begin) // time to start them
	pause(delay)
	var arrived time.Time
	for _, rank := range late {
		arrived = c.join(rank, "train", "linear", "--json").began
	}
	e := c.trained()
	if got := e.digest(t); got != alone(t) {
		t.Errorf("digest %s, want %s as if nobody had been late", got, alone(t))
	}
	within(t, "the start after the last arrival", 2*time.Second, 10*time.Second, e.only(t, "start").at().Sub(arrived))
	waiting := e.named(t, "waiting")
	within(t, "rank 0's first word", all+2*time.Second, all+6*time.Second, waiting[0].at().Sub(begin))
	for i, v := range waiting {
		if i > 0 && v.at().Sub(waiting[i-1].at()) < 4*time.Second {
			t.Errorf("rank 0 prints at %v and %v, want 5 s between", waiting[i-1]["time"], v["time"])
		}
	}
	if said := fmt.Sprintf("waiting: 18 of 20 present; missing 12 (%s: connection refused), 17 (%s: connection refused); ",
		c.workers[12], c.workers[17]); !strings.Contains(e.stderr, said) {
		t.Errorf("rank 0 does not say %q\n%s", said, e.stderr)
	}
	for rank, p := range c.ranks {
		if n := p.wait().waitingLines(); rank > 0 && n > 1+int(time.Since(begin)/(10*time.Second)) {
			t.Errorf("rank %d prints %d waiting lines, want one each 10 s at most", rank, n)
		}
	}
}

// TestS3MissingRanks verifies that the others name missing ranks and end at the start
// timeout.
func TestS3MissingRanks(t *testing.T) {
	t.Parallel()
	missing := []int{12, 17}
	if short(t) {
		missing = []int{2, 3}
	}
	c := newListed(t, crowded(t))
	c.joinAll(missing, "train", "linear", "--start-timeout", "5s", "--json")
	c.wantEnds(138, missing, "connection refused")
	waiting := c.ranks[0].wait().named(t, "waiting")
	for _, v := range waiting {
		checkFields(t, v)
	}
	last := waiting[len(waiting)-1].missingRanks()
	for _, rank := range missing {
		if last[rank] != "connection refused" || len(last) != len(missing) {
			t.Errorf("missing at last: %v, want ranks %v and why", last, missing)
		}
	}
	v := c.ranks[0].wait().only(t, "error")
	checkFields(t, v)
	if v.num("exit_code") != 138 || !slices.Equal(ranksIn(v.text("cause")), missing) {
		t.Errorf("error event %v, want exit_code 138 and ranks %v", v, missing)
	}
	if files := c.files(); len(files) > 0 {
		t.Errorf("a job that never began wrote %v", files)
	}
}

// TestS4NoRank0 verifies that the others name rank 0 if it is missing.
func TestS4NoRank0(t *testing.T) {
	long(t)
	t.Parallel()
	c := newListed(t, crowded(t))
	c.joinAll([]int{0}, "train", "linear", "--start-timeout", "5s")
	c.wantEnds(138, []int{0}, c.workers[0], "connection refused")
	if files := c.files(); len(files) > 0 {
		t.Errorf("a job that never began wrote %v", files)
	}
}

// TestS5DoubleStart starts a rank twice on one host. It verifies that the second process
// is refused and the job unaffected. For two hosts see TestS5TwoHosts.
func TestS5DoubleStart(t *testing.T) {
	t.Parallel()
	n := crowded(t)
	c := newListed(t, n)
	c.joinAll([]int{n - 1}, "train", "linear", "--json")
	c.ranks[0].await(fmt.Sprintf("waiting: %d of %d present", n-1, n))
	twice := n / 2
	second := c.with(tfConfigOf(c.workers, twice)).start("train", "linear")
	e := second.wait()
	within(t, "the refusal", 0, 10*time.Second, second.endedAt.Sub(second.began))
	if e.code != 138 || !strings.Contains(e.last(), c.workers[twice]) || !strings.Contains(e.last(), "address already in use") ||
		!strings.Contains(e.last(), fmt.Sprintf("rank %d of ", twice)) || !strings.Contains(e.last(), "started twice?") {
		t.Errorf("the second rank %d ended with %d and %q, want 138 and %s in use by the first", twice, e.code, e.last(), c.workers[twice])
	}
	c.join(n-1, "train", "linear", "--json")
	if got := c.trained().digest(t); got != alone(t) {
		t.Errorf("digest %s, want that of an undisturbed run", got)
	}
}

// TestS6OlderRun verifies that processes of an older run are reported and are not
// treated as ranks of the new one.
func TestS6OlderRun(t *testing.T) {
	onlyInCases(t)
	t.Run(caseName("S6a"), func(t *testing.T) { // an older process holds the port of a rank
		old, c := newListed(t, 2), newListed(t, 20)
		c.workers[12] = old.workers[1]
		old.joinAll(nil, append([]string{"train", "--job-id", "older"}, longLinear(forever)...)...)
		old.ranks[0].await(`"event":"step"`)
		c.joinAll([]int{12}, "train", "linear", "--job-id", "newer", "--start-timeout", "8s", "--json")
		c.wantEnds(138, []int{12}, c.workers[12], "answers for run older, not newer")
		if files := c.files(); len(files) > 0 {
			t.Errorf("a job that never began wrote %v", files)
		}
		old.ranks[1].signal(os.Kill) // it first: the other ends by that
		if e := old.ranks[1].wait(); e.code != -1 {
			t.Errorf("the older run ended with %d and %q, want it undisturbed", e.code, e.last())
		}
		old.ranks[0].signal(os.Kill)
	})
	t.Run(caseName("S6b"), func(t *testing.T) { // an older process dials the new ones
		t.Parallel()
		c := newListed(t, 20)
		c.joinAll([]int{12}, "train", "linear", "--job-id", "newer", "--json")
		old := c.with(tfConfigOf(c.workers, 12)).start("train", "linear", "--job-id", "older")
		e := old.wait()
		within(t, "the refusal", 0, 20*time.Second, old.endedAt.Sub(old.began))
		if e.code != 138 || !strings.Contains(e.last(), "newer") || !strings.Contains(e.last(), "older") {
			t.Errorf("the older process ended with %d and %q, want 138 and both jobs named", e.code, e.last())
		}
		c.join(12, "train", "linear", "--job-id", "newer")
		if got := c.trained().digest(t); got != alone(t) {
			t.Errorf("digest %s, want that of an undisturbed run", got)
		}
	})
}

// TestS7WrongAddress verifies the report about a wrong address of a rank. Hosts that
// drop packets, or listen on their loopback only, are in TestS7Hosts; a duplicate
// address and one out of place in TestS11Environments.
func TestS7WrongAddress(t *testing.T) {
	long(t)
	t.Parallel()
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	sshd := greeter(t, "SSH-2.0-OpenSSH_9.2\r\n")
	n, wrong := 5, 4
	if inCases() {
		n, wrong = 20, 12
	}
	tests := []wrongAddress{
		{"S7a", "rank12.invalid:2222", "does not resolve"},
		{"S7b", onLoopback(freePorts(t, 1))[0], "connection refused"},
		{"S7d_http", web.Listener.Addr().String(), `speaks no TLS: begins with "HTTP/1.1 400`},
		{"S7d_ssh", sshd, `speaks no TLS: begins with "SSH-2.0-OpenSSH`},
	}
	if inCases() {
		tests = append(tests, wrongAddress{"S7e", "", "is rank 3's"})
	}
	var worlds []*listed // parallel: the cases mostly wait
	for _, tt := range tests {
		c := newListed(t, n)
		c.workers[wrong] = tt.address
		if tt.address == "" {
			_, port, _ := net.SplitHostPort(c.workers[3])
			c.workers[wrong] = "localhost:" + port
		}
		c.joinAll([]int{wrong}, "train", "linear", "--start-timeout", "8s", "--json")
		worlds = append(worlds, c)
	}
	for i, tt := range tests {
		t.Run(caseName(tt.id), func(t *testing.T) { worlds[i].wantMissing(t, wrong, tt.want) })
	}
}

// A wrongAddress is the listed address of a rank.
type wrongAddress struct {
	id, address string // "": that of rank 3 by another name
	want        string // reason for the missing rank
}

// wantMissing verifies that all ranks give up on one rank, and that rank 0 reports the
// reason.
func (l *listed) wantMissing(t *testing.T, rank int, why string) {
	t.Helper()
	e := l.ranks[0].wait()
	waiting := e.named(t, "waiting")
	if len(waiting) == 0 {
		t.Fatalf("rank 0 waits for nobody\n%s%s", e.stdout, e.stderr)
	}
	missing := waiting[len(waiting)-1].missingRanks()
	if reason, ok := missing[rank]; len(missing) != 1 || !ok || !strings.Contains(reason, why) {
		t.Errorf("missing at last: %v, want rank %d and %q", missing, rank, why)
	}
	if v := e.only(t, "error"); v.num("exit_code") != 138 || v.num("rank") != float64(rank) {
		t.Errorf("error event %v, want exit_code 138 and rank %d", v, rank)
	}
	for other, p := range l.ranks {
		if e := p.wait(); e.code != 138 || !strings.Contains(e.last(), l.workers[rank]) {
			t.Errorf("rank %d ended with %d and %q, want 138 and %s", other, e.code, e.last(), l.workers[rank])
		}
	}
}

// greeter sends a line to every connection, and nothing more.
func greeter(t *testing.T, line string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			conn.Write([]byte(line))
		}
	}()
	return l.Addr().String()
}

// TestS11DifferentLists verifies that two ranks with different lists of workers end with
// an error.
func TestS11DifferentLists(t *testing.T) {
	t.Parallel()
	c := newListed(t, 3)
	for rank := range c.workers {
		list := c.workers
		if rank == 1 {
			list = []string{c.workers[0], c.workers[1], "127.0.0.1:1999"}
		}
		c.ranks[rank] = c.with(tfConfigOf(list, rank)).start("train", "linear", "--start-timeout", "6s")
	}
	for rank, p := range c.ranks {
		e := p.wait()
		if e.code != 64 || !strings.Contains(e.last(), "127.0.0.1:1999") || !strings.Contains(e.last(), c.workers[2]) {
			t.Errorf("rank %d ended with %d and %q, want 64 and what differs, 127.0.0.1:1999 and %s", rank, e.code, e.last(), c.workers[2])
		}
	}
}

// TestS13Repetitions runs short jobs repeatedly, with ranks started in random order and
// with pauses. It verifies that all orders of joins and leaves complete.
func TestS13Repetitions(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	repetitions := 10
	if inFull() {
		repetitions = 100
	}
	want := alone(t, "--set", "train.steps=10")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	limit := make(chan struct{}, 10) // parallel jobs
	var all sync.WaitGroup
	for i := range repetitions {
		limit <- struct{}{}
		all.Go(func() {
			defer func() { <-limit }()
			repeatS13(t, rand.New(rand.NewPCG(seed, uint64(i))), want)
		})
	}
	all.Wait()
}

// repeatS13 runs one repetition.
func repeatS13(t *testing.T, r *rand.Rand, want string) {
	c := newListed(t, 4)
	var last time.Time
	for _, rank := range r.Perm(4) {
		pause(time.Duration(r.IntN(2000)) * time.Millisecond)
		last = c.join(rank, "train", "linear", "--set", "train.steps=10", "--set", "export.savedmodel=").began
	}
	for rank, p := range c.ranks {
		if e := p.wait(); e.code != 0 || e.last() != "digest="+want {
			t.Errorf("rank %d ended with %d and %q, want 0 and digest %s\n%s", rank, e.code, e.last(), want, e.stderr)
		}
		if p.endedAt.Before(last) {
			t.Errorf("rank %d ended before the last one had come", rank)
		}
	}
}
