package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/ringtest/netns"
)

// A job on two hosts goes through faults of the network, while no process ends. Its end must be
// that of an undisturbed job. The test prints the table of docs/when-it-breaks.md:
//
//	make faults
//	RINGTRAIN_FAULTS=1 go test -v -run 'TestFaults/fault=dark_both_ways/for=4s' ./cmd/ringtrain
//
// Without RINGTRAIN_FAULTS it has a share of the rows.

// A netfault is a row of the table.
type netfault struct {
	name  string
	share bool          // `make check-long` has it
	ranks int           // on two hosts
	apart bool          // the launcher is on a third host, else on the first
	lasts time.Duration // time of the undisturbed job
	do    func(*shaken)
	code  int    // of the job
	says  string // pattern of its last line
}

// netfaults returns the rows.
func netfaults() []netfault {
	var all []netfault
	for _, ranks := range []int{4, 20} {
		for _, what := range []reset{{control: true}, {data: true}, {control: true, data: true}} {
			for times := 1; times <= 2; times++ {
				all = append(all, netfault{
					name: fmt.Sprintf("reset of %v/times=%d/ranks=%d", what, times, ranks), share: ranks == 4 && times == 2 && what.control && what.data,
					ranks: ranks, lasts: 6 * time.Second, do: func(s *shaken) { s.resets(what, times) },
				})
			}
		}
	}
	for _, way := range []string{"both ways", "towards the launcher", "from the launcher"} {
		for _, d := range []time.Duration{time.Second, 2 * time.Second, 2500 * time.Millisecond, 3 * time.Second, 4 * time.Second} {
			all = append(all, netfault{
				name: fmt.Sprintf("dark %s/for=%v", way, d), share: d == 4*time.Second && way == "both ways",
				ranks: 4, lasts: 6 * time.Second, do: func(s *shaken) { s.dark(way, d) },
			})
		}
	}
	for _, d := range []time.Duration{3 * time.Second, 6 * time.Second} {
		all = append(all, netfault{
			name: fmt.Sprintf("launcher dark/for=%v", d), share: d == 6*time.Second,
			ranks: 4, apart: true, lasts: d + 9*time.Second, do: func(s *shaken) { s.launcherDark(d) },
		})
	}
	return append(all, netfault{
		name: "dark both ways/for=8s", share: true,
		ranks: 4, lasts: 6 * time.Second, do: func(s *shaken) { s.dark("both ways", 8*time.Second) },
		code: 138, says: `host \S+ and the launcher did not hear each other for [56] s`,
	})
}

// TestFaults verifies that resets and dark paths cost no rank, no restart and no bit, and that a
// host which is dark for longer than the lease is named.
func TestFaults(t *testing.T) {
	all := os.Getenv("RINGTRAIN_FAULTS") != ""
	if !all {
		long(t)
	}
	rows := table{title: "\n| fault | what was seen | steps stood still | after its end | digest | lost |\n| --- | --- | --- | --- | --- | --- |"}
	known := &yardstick{digests: map[string]string{}, rates: map[string]float64{}}
	for _, f := range netfaults() {
		if all || f.share {
			t.Run("fault="+f.name, func(t *testing.T) { rows.add(f.run(t, known)) })
		}
	}
	for _, f := range meetingFaults() {
		if all || f.share {
			t.Run("fault="+f.name, func(t *testing.T) { rows.add(f.run(t, known)) })
		}
	}
	rows.print()
}

// A table is printed row by row.
type table struct {
	title string
	rows  []string
}

func (t *table) add(row string) { t.rows = append(t.rows, row) }
func (t *table) print()         { fmt.Printf("%s\n%s\n\n", t.title, strings.Join(t.rows, "\n")) }

// A yardstick has undisturbed jobs, by ranks and steps.
type yardstick struct {
	digests map[string]string
	rates   map[string]float64 // steps a second
}

// steps returns the steps of a job that lasts some time, and its digest. run trains undisturbed.
func (y *yardstick) steps(layout string, lasts time.Duration, run func(steps int) event) (steps int, digest string) {
	const probe = 1000
	if y.rates[layout] == 0 {
		y.rates[layout] = probe / run(probe).num("took_s")
	}
	for {
		steps = max(probe, int(y.rates[layout]*lasts.Seconds())/probe*probe)
		key := fmt.Sprint(layout, steps)
		if y.digests[key] != "" {
			return steps, y.digests[key]
		}
		e := run(steps)
		y.digests[key] = e.text("digest")
		if rate := float64(steps) / e.num("took_s"); rate > 1.5*y.rates[layout] { // other load slowed the probe: the job would end before the fault
			y.rates[layout] = rate
		}
	}
}

// faultJob is a job whose steps cross the wire and are reported closely.
func faultJob(steps, every int) []string {
	return digits(steps, "--set", "log.every="+fmt.Sprint(every), "--set", "checkpoint.dir=", "--set", "export.savedmodel=")
}

// A shaken is a job over ssh that goes through faults.
type shaken struct {
	*cluster
	net      *netns.Net
	launcher netns.Host
	ranks    [2]netns.Host // hosts of the ranks
	port     string        // of the rendezvous
	job      *testProcess
	turmoil
}

// run runs a job through the fault and returns its row.
func (n netfault) run(t *testing.T, known *yardstick) string {
	net := newNet(t, netns.Config{Hosts: 3, Router: true})
	hosts := net.Hosts()
	s := &shaken{cluster: clusterOf(t, hosts, 3), net: net, launcher: hosts[0], ranks: [2]netns.Host{hosts[0], hosts[1]}}
	s.box = s.lasting(2 * time.Minute)
	slots, every := map[int]int{0: n.ranks / 2, 1: n.ranks / 2}, 10
	if n.apart {
		s.ranks, slots, every = [2]netns.Host{hosts[1], hosts[2]}, map[int]int{1: n.ranks / 2, 2: n.ranks / 2}, 100
	}
	steps, digest := known.steps(fmt.Sprint(n.ranks), n.lasts, func(steps int) event {
		e := s.launch(slots, faultJob(steps, 100)...).wait()
		if e.code != 0 {
			t.Fatalf("the undisturbed job ended with %d\n%s", e.code, e.stderr)
		}
		return e.only(t, "done")
	})
	s.job = s.launch(slots, faultJob(steps, every)...)
	s.job.await(`"event":"step"`)
	start := parsed(s.job.stdout.String())[0]
	_, s.port, _ = strings.Cut(start.text("rendezvous"), ":")
	n.do(s)
	e := s.job.wait()
	v := s.judge(parsed(e.stdout))
	v.wantLost(t, nil)
	if e.code != n.code || !regexp.MustCompile(n.says).MatchString(e.last()) {
		t.Errorf("ended with %d and %q, want %d and %s\n%s", e.code, e.last(), n.code, n.says, withoutSteps(e.stderr))
	}
	if n.code == 0 && v.digest != digest {
		t.Errorf("digest %q, want %s of the undisturbed job", v.digest, digest)
	}
	s.nothingLeft(40*time.Second, nil)
	return v.row(n.name, e.code, e.last(), digest)
}

// steady waits until steps complete.
func (s *shaken) steady() {
	s.Helper()
	s.job.stepAfter(s, time.Now())
}

// resets resets connections several times, each time while steps complete.
func (s *shaken) resets(what reset, times int) {
	for range times {
		s.steady()
		s.begin()
		what.do(s)
		s.end()
	}
	s.steady()
}

// dark makes the paths between the hosts of the ranks dark.
func (s *shaken) dark(way string, d time.Duration) {
	s.steady()
	s.begin()
	if way != "towards the launcher" {
		s.cut(s.ranks[0], s.ranks[1])
	}
	if way != "from the launcher" {
		s.cut(s.ranks[1], s.ranks[0])
	}
	pause(d)
	s.mend()
	s.end()
}

// launcherDark disconnects the launcher from all ranks, which reach each other.
func (s *shaken) launcherDark(d time.Duration) {
	s.steady()
	s.begin()
	for _, h := range s.ranks {
		s.cut(s.launcher, h)
		s.cut(h, s.launcher)
	}
	pause(d)
	s.mend()
	s.end()
	s.steady()
}

// A reset says which connections are reset.
type reset struct{ control, data bool }

func (r reset) String() string {
	switch {
	case r.control && r.data:
		return "both"
	case r.data:
		return "data"
	}
	return "control"
}

// do resets the connections: the kernel of their host ends them and tells the other side.
func (r reset) do(s *shaken) {
	s.Helper()
	if r.control {
		s.wantReset(fmt.Sprintf("sport = :%s or dport = :%s", s.port, s.port), s.ranks[:]...)
	}
	if r.data {
		const ssh = "2222"
		filter := fmt.Sprintf("dst %s and sport != :%s and dport != :%s and sport != :%s and dport != :%s", s.ranks[1].Addr, ssh, ssh, s.port, s.port)
		s.wantReset(filter, s.ranks[0])
	}
}

// wantReset resets connections and verifies that there were some.
func (s *shaken) wantReset(filter string, on ...netns.Host) {
	s.Helper()
	eventually(s, patience, "there is a connection to reset: "+filter, func() bool { return resetConnections(s, filter, on...) })
}

// cut drops the packets from one host to another until mend.
func (s *shaken) cut(from, to netns.Host) {
	s.Helper()
	if err := s.net.Cut(s.Context(), from, to); err != nil {
		s.Fatal(err)
	}
	s.mended = append(s.mended, func() error { return s.net.Mend(s.Context(), from, to) })
}
