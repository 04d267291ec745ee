package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// dashboardLine is the line with which a page is told.
var dashboardLine = regexp.MustCompile(`(?m)^dashboard (http://(127\.0\.0\.1:\d+)/\?token=([0-9a-f]{32}))$`)

// A dashboard is the live page of a process of a test.
type dashboard struct{ link, addr, token string }

// dashboard returns the live page that the process has told.
func (p *testProcess) dashboard(t *testing.T) dashboard {
	t.Helper()
	p.await("dashboard http")
	m := dashboardLine.FindStringSubmatch(p.stderr.String())
	if m == nil {
		t.Fatalf("standard error has no link: %s", p.stderr)
	}
	return dashboard{m[1], m[2], m[3]}
}

// get requests a path. token is "" for none.
func get(t *testing.T, addr, path, token string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// read reads the events of a page, until it ends.
func (d dashboard) read(t *testing.T) *recorder {
	t.Helper()
	answer := get(t, d.addr, "/events", d.token)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("the events are answered with %s", answer.Status)
	}
	r := newRecorder()
	go io.Copy(r, answer.Body)
	return r
}

// TestDash verifies the live page of a job by its launcher: the link opens it, nobody is admitted without
// the token, status tells the link to the job's user but not over the network, and readers have the end.
func TestDash(t *testing.T) {
	b := newBox(t).with("SSH_CONNECTION=10.0.0.1 5 10.0.0.2 22")
	p := b.start(append([]string{"run", "-np", "2", "--dash", "--job-id", "seen"}, endless()...)...)
	d := p.dashboard(t)
	p.await("step 20 ")
	if _, port, _ := net.SplitHostPort(d.addr); !strings.Contains(p.stderr.String(), fmt.Sprintf(": ssh -L %s:%s ", port, d.addr)) {
		t.Errorf("in a login over ssh there is no line for it: %s", p.stderr)
	}
	if answer, err := http.Get(d.link); err != nil || answer.StatusCode != http.StatusOK || len(answer.Cookies()) != 1 {
		t.Errorf("the link is answered with %+v, %v", answer, err)
	}
	if answer := get(t, d.addr, "/metrics", d.token); answer.StatusCode != http.StatusOK {
		t.Errorf("the metrics are answered with %s", answer.Status)
	}
	for _, path := range []string{"/", "/events", "/metrics"} {
		if answer := get(t, d.addr, path, ""); answer.StatusCode != http.StatusForbidden {
			t.Errorf("without a token %s is answered with %s", path, answer.Status)
		}
	}
	if e := b.must(0, "status", "seen"); !strings.HasSuffix(e.stdout, "\ndashboard "+d.link+"\n") {
		t.Errorf("status is %s", e.stdout)
	}
	if v := b.must(0, "status", "seen", "--json").only(t, "status"); v["dashboard"] != d.link || v["command"] != "run mnist" || v.num("pid") == 0 {
		t.Errorf("status --json is %v", v)
	}
	events := d.read(t)
	p.signal(syscall.SIGTERM)
	p.wait()
	events.await(t, `"event":"error"`)
	for _, want := range []string{`"event":"start"`, `"event":"step"`, `"exit_code":143`} {
		if !strings.Contains(events.String(), want) {
			t.Errorf("a reader lacks %s: %s", want, events)
		}
	}
}

// TestDashRank0 verifies the page and the metrics of a job without our launcher: rank 0 has them, and no
// other rank.
func TestDashRank0(t *testing.T) {
	b := newBox(t)
	ports := freePorts(t, 2)
	numbers := fmt.Sprintf("127.0.0.1:%d", ports[1])
	ranks := b.startRanks(2, append([]string{"train", "--dash", "--metrics=" + numbers}, endless()...), func(rank int) []string { return rankVariables(rank, 2, ports[0]) })
	d := ranks[0].dashboard(t)
	ranks[0].await("step 20 ")
	events := d.read(t)
	events.await(t, `"event":"step"`)
	events.await(t, `"phase":"running"`)
	text, err := io.ReadAll(get(t, numbers, "/metrics", "").Body)
	if err != nil || !strings.Contains(string(text), "\nringtrain_ranks 2\n") || !strings.Contains(string(text), "\nringtrain_ranks_present 2\n") {
		t.Errorf("the metrics are %s, %v", text, err)
	}
	if answer := get(t, numbers, "/", ""); answer.StatusCode != http.StatusNotFound {
		t.Errorf("beside the metrics / is answered with %s", answer.Status)
	}
	if strings.Contains(ranks[1].stderr.String(), "dashboard") {
		t.Errorf("rank 1 says %s", ranks[1].stderr)
	}
	for _, p := range ranks {
		p.signal(syscall.SIGTERM)
	}
	for _, p := range ranks {
		p.wait()
	}
	events.await(t, `"event":"error"`)
}

// TestDashHasThePast verifies that the page of a resumed run has what was before, whether rank 0 is on this host or on
// another one, and that no other view has it.
func TestDashHasThePast(t *testing.T) {
	for _, host := range []string{"localhost", "other"} {
		t.Run("host="+host, func(t *testing.T) {
			b := byFakeSSH(t)
			job := []string{"run", "-H", host + ":2", "--json", "mnist", "--set", "input.synthetic=true", "--set", "checkpoint.dir=ckpt", "--set", "export.savedmodel="}
			b.must(0, append(job, "--set", "train.steps=40")...)
			p := b.start(append(job, "--set", "train.steps=100000000", "--dash")...)
			d := p.dashboard(t)
			p.await(`"restored_step":40`)
			events := d.read(t)
			events.await(t, `"restored_step":40`)
			for _, want := range []string{`"restored_step":0`, `"event":"done"`} {
				if text := events.String(); strings.Count(text, want) != 1 {
					t.Errorf("the page has %d times %s: %s", strings.Count(text, want), want, text)
				}
			}
			p.signal(syscall.SIGTERM)
			if e := p.wait(); strings.Contains(e.stdout, `"event":"done"`) || strings.Contains(e.stdout, `"past"`) {
				t.Errorf("standard output has what was before: %s", e.stdout)
			}
		})
	}
}

// TestDashHang stops a rank, and then kills it. It verifies that a page shows the rank for which the others
// wait, also of rank 0, and by which rank the job has ended.
func TestDashHang(t *testing.T) {
	for rank := range 2 {
		t.Run(fmt.Sprintf("rank=%d", rank), func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			p := b.start(append([]string{"run", "-np", "2", "--dash", "--lease", "1h"}, endless("--link", "tcp")...)...)
			d := p.dashboard(t)
			p.await("step 20 ")
			pid := b.rankPID(rank)
			kill(t, pid, syscall.SIGSTOP)
			events := d.read(t)
			other, long := regexp.MustCompile(fmt.Sprintf(`\{[^{}]*"rank":%d\b[^{}]*`, 1-rank)), regexp.MustCompile(`"for_s":[1-9]`)
			eventually(t, patience, "an arrow to the rank that is stopped", func() bool {
				return slices.ContainsFunc(other.FindAllString(events.String(), -1), func(of string) bool {
					return strings.Contains(of, `"present":true`) && strings.Contains(of, fmt.Sprintf(`"peer":%d,`, rank)) && long.MatchString(of)
				})
			})
			kill(t, pid, syscall.SIGKILL)
			p.wait()
			end := regexp.MustCompile(fmt.Sprintf(`"event":"error","time":"[^"]*","rank":%d,.*"exit_code":137`, rank))
			eventually(t, patience, "the cause of the end", func() bool { return end.MatchString(events.String()) })
		})
	}
}

// TestDashRestart kills rank 0, which is replaced, and resumes the job. It verifies that a new reader has what the
// first rank 0 told, and that a page of the resumed job has what was before it.
func TestDashRestart(t *testing.T) {
	b := newBox(t)
	job := endless("--set", "checkpoint.dir=ckpt", "--set", "checkpoint.every=50")
	p := b.start(append([]string{"run", "-np", "2", "--dash", "--restarts", "1"}, job...)...)
	d := p.dashboard(t)
	p.await("step 20 ")
	first := d.read(t)
	first.await(t, `"event":"checkpoint"`)
	kill(t, b.rankPID(0), syscall.SIGKILL)
	starts := func(r *recorder) int { return strings.Count(r.String(), `"event":"start"`) }
	eventually(t, patience, "the start of the second rank 0", func() bool { return starts(first) == 2 })
	second := d.read(t)
	second.await(t, `"event":"generation"`)
	if before, _, _ := strings.Cut(second.String(), `"event":"generation"`); !strings.Contains(before, `"event":"checkpoint"`) {
		t.Errorf("a new reader lacks what was before the restart: %s", second)
	}
	p.signal(syscall.SIGTERM)
	p.wait()

	p = b.start(append([]string{"run", "-np", "2", "--dash"}, job...)...)
	d = p.dashboard(t)
	resumed := d.read(t)
	eventually(t, patience, "the start of the resumed job", func() bool { return starts(resumed) == 3 })
	p.signal(syscall.SIGTERM)
	p.wait()
	if text := resumed.String(); !strings.Contains(text, `"event":"generation"`) {
		t.Errorf("a page of the resumed job lacks what was before: %s", text)
	}
}

// TestDashRefused verifies that options of the page and the metrics that do not fit are refused before any
// rank starts, with the code and the way out.
func TestDashRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tests := []struct {
		name, args string
		code       int
		text       string
	}{
		{"port in use", "run -np 2 mnist --dash=" + l.Addr().String(), 138, "another program has the port"},
		{"metrics in use", "run -np 2 mnist --metrics " + l.Addr().String(), 138, "another program has the port"},
		{"rank 0 alone", "train mnist --dash=" + l.Addr().String(), 138, "another program has the port"},
		{"beyond loopback", "run -np 2 mnist --dash=0.0.0.0:0", 64, "kubectl port-forward"},
		{"public alone", "run -np 2 mnist --dash-public", 64, "--dash-public is given without --dash"},
		{"program", "run -np 2 --dash true", 64, "--dash and --metrics are of jobs, and true is none"},
		{"no port", "run -np 2 mnist --metrics=here", 64, "--metrics is here, want HOST:PORT"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newBox(t).with("RINGTRAIN_INPUT_SYNTHETIC=true").must(tt.code, strings.Fields(tt.args)...)
			if !strings.Contains(e.stderr, tt.text) || strings.Contains(e.stderr, "2 ranks on") || e.stdout != "" {
				t.Errorf("it says %q, want %q and no rank", e.stdout+e.stderr, tt.text)
			}
		})
	}
}
