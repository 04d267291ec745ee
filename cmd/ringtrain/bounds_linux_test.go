package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A gauge has the system resources of a process.
type gauge struct {
	threads, files, goroutines int
	rss                        int64 // bytes
}

// gaugeOf reads the gauge of a living process, without its goroutines.
func gaugeOf(pid int) (gauge, bool) {
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil || len(files) == 0 {
		return gauge{}, false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	pages := strings.Fields(string(text))
	if err != nil || len(pages) < 2 {
		return gauge{}, false
	}
	resident, _ := strconv.ParseInt(pages[1], 10, 64)
	return gauge{threads: threadsOf(pid), files: len(files), rss: resident * int64(os.Getpagesize())}, true
}

// gauges returns the gauge of each rank of the box's job.
func (b *box) gauges() map[int]gauge {
	b.Helper()
	all := map[int]gauge{}
	for pid, env := range b.processes() {
		m := rankVariable.FindSubmatch(env)
		if g, ok := gaugeOf(pid); ok && m != nil {
			rank, _ := strconv.Atoi(string(m[1]))
			all[rank] = g
		}
	}
	return all
}

var rankVariable = regexp.MustCompile(`\x00RINGTRAIN_RANK=([0-9]+)\x00`)

// most returns the maximum of each resource.
func most(a, b gauge) gauge {
	return gauge{max(a.threads, b.threads), max(a.files, b.files), max(a.goroutines, b.goroutines), max(a.rss, b.rss)}
}

// largest returns the maximum over all gauges.
func largest(all map[int]gauge) gauge {
	var m gauge
	for g := range maps.Values(all) {
		m = most(m, g)
	}
	return m
}

// goroutines makes every rank dump its goroutines and returns their numbers. The dumps
// are part of the launcher's output.
func (b *box) goroutines(p *testProcess, ranks int) map[int]int {
	b.Helper()
	before, _ := p.stderr.snapshot()
	for pid, env := range b.processes() {
		if rankVariable.Match(env) {
			kill(b, pid, syscall.SIGQUIT)
		}
	}
	count := func() map[int]int {
		text, _ := p.stderr.snapshot()
		n := map[int]int{}
		for line := range strings.Lines(text[len(before):]) {
			if m := goroutineLine.FindStringSubmatch(line); m != nil {
				rank, _ := strconv.Atoi(m[1])
				n[rank]++
			}
		}
		return n
	}
	eventually(b, patience, "every rank has said its goroutines", func() bool { return len(count()) == ranks })
	pause(time.Second) // for the remaining dumps
	return count()
}

var goroutineLine = regexp.MustCompile(`^\[(\d+)\] goroutine \d+ `)

// TestS12ManyRanks verifies that 50 and 100 ranks on one host join and stay within
// bounds: a rank has at most cores + 8 threads, and 24 + 4·log2(ranks) files, in memory
// 24 + ranks; the launcher has 16 + 8 per rank.
func TestS12ManyRanks(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	for _, ranks := range []int{50, 100} {
		for _, levels := range []string{"auto", "flat"} {
			t.Run(caseName("S12", "ranks=", ranks, "/levels=", levels), func(t *testing.T) {
				b := newBox(t).lasting(3 * time.Minute)
				p := b.start("run", "-np", strconv.Itoa(ranks), "linear", "--json", "--set", "train.steps=200", "--set", "log.every=100", "--set", "allreduce.levels="+levels)
				rank, launcher := b.watchMost(p)
				e := p.wait()
				if e.code != 0 || e.digest(t) != alone(t, "--set", "train.steps=200") {
					t.Fatalf("ended with %d\n%s", e.code, e.stderr)
				}
				log2 := 0
				for 1<<log2 < ranks {
					log2++
				}
				if limit := runtime.NumCPU() + 8; rank.threads > limit {
					t.Errorf("a rank has up to %d threads, want %d at most", rank.threads, limit)
				}
				limit := 24 + 4*log2
				if levels == "auto" {
					limit = 24 + ranks // memory of each rank
				}
				if rank.files > limit {
					t.Errorf("a rank has up to %d open files, want %d at most", rank.files, limit)
				}
				if limit := 16 + 8*ranks; launcher.files > limit {
					t.Errorf("the launcher has up to %d open files, want %d at most", launcher.files, limit)
				}
				first := e.named(t, "step")[0].at().Sub(p.began)
				within(t, "step 100 after the command", 0, time.Minute, first)
				t.Logf("a rank: up to %d threads, %d files, %d MiB; the launcher: %d threads, %d files, %d MiB",
					rank.threads, rank.files, rank.rss>>20, launcher.threads, launcher.files, launcher.rss>>20)
			})
		}
	}
}

// watchMost returns the maxima of a rank and of the launcher.
func (b *box) watchMost(p *testProcess) (rank, launcher gauge) {
	b.Helper()
	for {
		if g, ok := gaugeOf(p.cmd.Process.Pid); ok {
			launcher = most(launcher, g)
		}
		rank = most(rank, largest(b.gauges()))
		select {
		case <-time.After(100 * time.Millisecond):
		case <-p.ended:
			return rank, launcher
		}
	}
}

// TestL2TaskLimit runs each rank under a limit of its threads, as a separate user,
// because the system counts by user. It verifies that a rank needs at most cores + 16,
// and that a lower limit gives an understandable error.
func TestL2TaskLimit(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be 20 users")
	}
	for _, limit := range []int{runtime.NumCPU() + 16, 4} {
		t.Run(caseName("L2", "limit=", limit), func(t *testing.T) {
			b, port := newBox(t), freePorts(t, 1)[0]
			program := openToAll(t, b)
			begin, ranks := time.Now(), []*testProcess{}
			for rank := range 20 {
				user := strconv.Itoa(61000 + limit*100 + rank)
				line := []string{"-u", "HOME", "setpriv", "--reuid", user, "--clear-groups", "prlimit", "--nproc=" + strconv.Itoa(limit), "--core=0",
					program, "train", "linear", "--set", "checkpoint.dir=", "--set", "export.savedmodel=", "--start-timeout", "10s"}
				ranks = append(ranks, b.with(rankVariables(rank, 20, port)...).startProgram("env", line...))
			}
			for rank, p := range ranks {
				e := p.wait()
				enough := e.code == 0 && strings.HasPrefix(e.last(), "digest=")
				tooFew := e.code > 0 && e.code < 128 && strings.Contains(e.stderr, "thread") // message of the Go runtime, before main
				if limit > 16 && !enough || limit < 16 && !tooFew {
					t.Errorf("rank %d with %d threads at most ended with %d\n%.200s", rank, limit, e.code, e.stderr)
				}
			}
			within(t, "the end of all", 0, time.Minute, time.Since(begin))
			if cores, _ := filepath.Glob(b.path("core*")); len(cores) > 0 {
				t.Errorf("core dumps: %v", cores)
			}
		})
	}
}

// openToAll returns a copy of this binary that other users can run in the box: they have
// no access to the folder of the go command.
func openToAll(t *testing.T, b *box) string {
	t.Helper()
	program := b.path("ringtrain")
	if err := os.WriteFile(program, []byte(readFile(t, self(b))), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{b.dir, b.home, filepath.Dir(b.dir), program} {
		for dir := path; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			if err != nil {
				t.Fatal(err)
			}
			if dir == path || strings.HasPrefix(dir, filepath.Dir(b.dir)) {
				if err := os.Chmod(dir, info.Mode().Perm()|0o755); err != nil {
					t.Fatal(err)
				}
			} else if info.Mode().Perm()&0o001 == 0 {
				t.Skipf("other users cannot look into %s", dir)
			}
		}
	}
	return program
}

// TestL3SlowRank0 verifies that no process buffers without limit if rank 0's link is
// slow and the other ranks send much.
func TestL3SlowRank0(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	ranks := 16
	if inFull() {
		ranks = 64
	}
	hosts := newHosts(t, 2, "")
	layout := make([]int, ranks)
	for rank := range layout[1:] {
		layout[rank+1] = 1
	}
	rss := map[bool]float64{}
	for _, slowed := range []bool{false, true} {
		if slowed {
			slow(t, hosts[0], "20mbit")
			slow(t, hosts[1], "20mbit")
		}
		b := newBox(t).lasting(3 * time.Minute)
		e := b.startOnHosts(hosts, layout, digitsMLP(256, 8, "--set", "allreduce.codec=none", "--set", "allreduce.levels=flat",
			"--set", "checkpoint.dir=")...).trained()
		done := e.only(t, "done")
		rss[slowed] = done.num("max_rss_bytes")
		t.Logf("slowed %v: %v s, the largest rank has %.1f MiB", slowed, done["took_s"], rss[slowed]/(1<<20))
	}
	if rss[true] > rss[false]+32<<20 {
		t.Errorf("the largest rank has %.1f MiB, with a slow link %.1f, want no more than 32 more", rss[false]/(1<<20), rss[true]/(1<<20))
	}
}

// TestL4Epochs verifies that threads, files and memory stay flat over many epochs of the
// job ctr with a validation after each.
func TestL4Epochs(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	data, epochs := clicks(t), 12
	if inFull() {
		epochs = 100
	}
	one := oneEpoch(t, data)
	b := newBox(t).lasting(15 * time.Minute)
	p := b.start("run", "-np", "12", "--json", "ctr", "--data", data, "--set", "train.epochs="+strconv.Itoa(epochs),
		"--set", "eval.every="+strconv.Itoa(int(one.num("steps"))))
	series := b.watch(p)
	e := p.wait()
	if e.code != 0 {
		t.Fatalf("ended with %d\n%s", e.code, e.stderr)
	}
	done := e.only(t, "done")
	if n := len(e.named(t, "eval")); n != epochs {
		t.Errorf("%d evaluations, want one each of %d epochs", n, epochs)
	}
	for _, name := range []string{"epochs", "steps", "examples"} {
		if want := float64(epochs) * one.num(name); done.num(name) != want {
			t.Errorf("done has %v %s, want %v", done.num(name), name, want)
		}
	}
	events := e.events(t)
	if last := events[len(events)-1].name(); last != "done" {
		t.Errorf("the last event is %s, want done", last)
	}
	series.wantFlat(t, done.num("steps"))
}

// oneEpoch is the number of steps of the job ctr in one epoch of a8a.
func oneEpoch(t *testing.T, data string) event {
	t.Helper()
	done := newBox(t).must(0, "run", "-np", "2", "--json", "ctr", "--data", data, "--set", "train.epochs=1",
		"--set", "checkpoint.dir=", "--set", "export.savedmodel=").only(t, "done")
	const records = 22696 // of a8a
	if done.num("epochs") != 1 || done.num("examples") != records {
		t.Fatalf("done: %v, want 1 epoch of %d examples", done, records)
	}
	return done
}

// A series has the resources of a job's ranks over time.
type series struct {
	at  []time.Time
	all []map[int]gauge
}

// watch samples the ranks' gauges until the launcher has ended.
func (b *box) watch(p *testProcess) *series {
	b.Helper()
	s := &series{}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		if all := b.gauges(); len(all) > 0 {
			s.at, s.all = append(s.at, time.Now()), append(s.all, all)
		}
		select {
		case <-tick.C:
		case <-p.ended:
			return s
		}
	}
}

// wantFlat verifies that no rank has more threads or files in the last third than in the
// second one, by more than 2, or more memory than 1 MiB per 100,000 steps plus the
// garbage collector's variation.
func (s *series) wantFlat(t *testing.T, steps float64) {
	t.Helper()
	const collector = 4 << 20
	if len(s.all) < 12 {
		t.Fatalf("only %d readings, want 12 or more: nothing can be compared", len(s.all))
	}
	third := len(s.all) / 3
	middle, last := s.all[third:2*third], s.all[2*third:]
	worst := gauge{}
	for _, rank := range slices.Sorted(maps.Keys(s.all[third])) {
		var before, after gauge
		for _, all := range middle {
			before = most(before, all[rank])
		}
		for _, all := range last {
			after = most(after, all[rank])
		}
		grown := gauge{threads: after.threads - before.threads, files: after.files - before.files, rss: after.rss - before.rss}
		if grown.threads > 2 || grown.files > 2 {
			t.Errorf("rank %d: %d threads, then %d; %d files, then %d; want 2 more at most", rank, before.threads, after.threads, before.files, after.files)
		}
		if limit := int64(steps/3/100_000*(1<<20)) + collector; grown.rss > limit {
			t.Errorf("rank %d: %d KiB of memory, then %d, want %d KiB more at most", rank, before.rss>>10, after.rss>>10, limit>>10)
		}
		worst = most(worst, grown)
	}
	m := largest(s.all[len(s.all)-1])
	t.Logf("%d readings of %d ranks over %v: in the last third a rank had %d threads, %d files and %d KiB more than in the second, at most; at last %d threads, %d files, %.1f MiB",
		len(s.all), len(s.all[third]), s.at[len(s.at)-1].Sub(s.at[0]).Round(time.Second), worst.threads, worst.files, worst.rss>>10,
		m.threads, m.files, float64(m.rss)/(1<<20))
}
