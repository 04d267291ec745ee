package peers

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/ringtest/netns"
)

// fourHosts are hosts that no test enters.
func fourHosts() []netns.Host {
	return []netns.Host{{Addr: "10.231.0.1"}, {Addr: "10.231.0.2"}, {Addr: "10.231.0.3"}, {Addr: "10.231.0.4"}}
}

// TestParseLine verifies that results of a driver are parsed and other lines are
// ignored.
func TestParseLine(t *testing.T) {
	got := parseLine(Work{}, "ring-1MiB 8388608 1250.50 3\n")
	if want := (Sample{Way: "ring-1MiB", Bytes: 8388608, Time: 1250.50e-6, Wrong: 3}); len(got) != 1 || got[0] != want {
		t.Errorf("samples are %+v, want %+v", got, want)
	}
	for _, line := range []string{"", "\n", "a warning of four", "ring 8 fast 0", "ring x 1 0", "ring 8 0 0", "ring 8 -1 0", "ring 8 NaN 0", "ring 8 1 0 0"} {
		if got := parseLine(Work{}, line); got != nil {
			t.Errorf("%q is taken for %+v", line, got)
		}
	}
}

// TestParseOurs verifies that rows of this program are parsed and other lines are
// ignored.
func TestParseOurs(t *testing.T) {
	row := `{"event":"bench","time":"x","bytes":1024,"codec":"int8","time_s":0.5,"wrong":2,"sent_between_hosts_bytes":7}`
	got := parseRow(Work{}, row)
	if want := (Sample{Way: "int8", Bytes: 1024, Time: 0.5, Wrong: 2, Between: 7}); len(got) != 1 || got[0] != want {
		t.Errorf("samples are %+v, want %+v", got, want)
	}
	for _, line := range []string{"", "# head", `{"event":"memory","arena_bytes":3}`, `{"event":"bench","bytes":8,"time_s":0}`} {
		if got := parseRow(Work{}, line); got != nil {
			t.Errorf("%q is taken for %+v", line, got)
		}
	}
}

// TestParseLimits verifies that the wire's time is that of the bytes of a ring, and that
// each limit is parsed as itself only.
func TestParseLimits(t *testing.T) {
	stream := `{"event":"limit","what":"stream","ranks":4,"time_s":2,"gb_s":0.12,"busbw_gb_s":0.12}`
	copied := `{"event":"limit","what":"copy","bytes":8,"ranks":2,"time_s":0.25,"gb_s":1,"busbw_gb_s":1}`
	w := Work{Ranks: 4, Sizes: []int{8, 80}}
	got := wire("x").parse(w, stream)
	if len(got) != 2 || got[1].Bytes != 80 || !(math.Abs(got[1].Time*0.12e9/120-1) <= 1e-9) {
		t.Errorf("of the stream come %+v, want for 80 bytes 120 bytes' time at 0.12 GB/s", got)
	}
	if got := copying("x").parse(w, copied); len(got) != 1 || got[0] != (Sample{Way: "copy", Bytes: 8, Time: 0.25}) {
		t.Errorf("of the copy come %+v", got)
	}
	if wire("x").parse(w, copied) != nil || copying("x").parse(w, stream) != nil || wire("x").parse(w, "{") != nil {
		t.Error("another limit is taken for this one")
	}
}

// TestCrews verifies that the command line of each rank enters its host, and that no
// command line contains the token.
func TestCrews(t *testing.T) {
	w, p := Work{Ranks: 4, Sizes: []int{8, 1 << 20}, Budget: time.Second, Batch: 64}, Topology{Hosts: fourHosts()[:2], PerHost: 2}
	processes := ringtrain(ours, "program", "--codec=int8").processes(w, p, "")
	if len(processes) != 4 {
		t.Fatalf("%d processes, want 4", len(processes))
	}
	first, last := strings.Join(processes[0].Argv, " "), strings.Join(processes[3].Argv, " ")
	if !strings.HasSuffix(first, "program bench allreduce --json --sizes=8,1MiB --budget=1s --in-place --batch=64 --codec=int8 --listen=10.231.0.1:29400") {
		t.Errorf("rank 0 is %s", first)
	}
	if strings.Contains(last, "--listen") || !slices.Contains(processes[3].Env, "RINGTRAIN_RANK=3") || !slices.Contains(processes[3].Env, "RINGTRAIN_RENDEZVOUS=10.231.0.1:29400") {
		t.Errorf("rank 3 is %s with %d variables", last, len(processes[3].Env))
	}
	for _, kv := range processes[0].Env {
		if token, ok := strings.CutPrefix(kv, "RINGTRAIN_TOKEN="); ok && (len(token) < 32 || strings.Contains(first, token)) {
			t.Error("the token is short, or stands in the command line")
		}
	}
	here := ringtrain(ours, "program").processes(w, Topology{}, "")
	if len(here) != 1 || !slices.Contains(here[0].Argv, "-np=4") {
		t.Errorf("on this host the processes is %v, want one launcher", here)
	}
	over := ringtrain(ringtrainTLS, "program").processes(w, Topology{}, "")
	if len(over) != 4 || !slices.Contains(over[3].Env, "RINGTRAIN_HOST_ID=3") || !strings.Contains(strings.Join(over[0].Argv, " "), "--listen=127.0.0.1:") {
		t.Errorf("over TLS the processes are %v, want one a rank, each on a host of its own", over)
	}
	lib := eachRank(w, p, "folder", []string{"program"})
	if got := strings.Join(lib[3].Argv, " "); !strings.HasSuffix(got, "program 3 4 folder 10.231.0.2 1000 64 8 1048576") {
		t.Errorf("rank 3 of a library is %s", got)
	}
}

// TestMPIOnHosts verifies that mpirun's agent is a valid shell script that knows each
// host.
func TestMPIOnHosts(t *testing.T) {
	folder := t.TempDir()
	w, p := Work{Ranks: 4, Sizes: []int{8}}, Topology{Hosts: fourHosts()[:2], PerHost: 2}
	var line string
	for _, c := range mpiContenders(mpiTCP, hostSettings(), 2, 4) {
		line = strings.Join(c.processes(w, p, folder)[0].Argv, " ")
		if !strings.Contains(line, "--host 10.231.0.1:2,10.231.0.2:2") || !strings.Contains(line, agentPath(folder)) {
			t.Errorf("mpirun is called as %s", line)
		}
	}
	script, err := os.ReadFile(agentPath(folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range p.Hosts {
		if !strings.Contains(string(script), h.Addr+") exec") {
			t.Errorf("the agent does not know %s:\n%s", h.Addr, script)
		}
	}
	if out, err := exec.Command("sh", "-n", agentPath(folder)).CombinedOutput(); err != nil {
		t.Errorf("the agent is no script: %v %s\n%s", err, out, script)
	}
	if out, err := exec.Command(agentPath(folder), "elsewhere", "true").CombinedOutput(); err == nil {
		t.Errorf("the agent finds a host that there is not: %s", out)
	}
}

// TestSpinningSettings verifies that Open MPI's spinning shared-memory component never
// has more ranks than cores.
func TestSpinningSettings(t *testing.T) {
	if few, many := len(mpiContenders(mpiMemory, memorySettings(), 2, 2)), len(mpiContenders(mpiMemory, memorySettings(), 2, 4)); few != 4 || many != 3 {
		t.Errorf("%d settings with 2 ranks on 2 cores and %d with 4, want 4 and 3", few, many)
	}
}

// TestDriver verifies that a driver is compiled once, and that errors name the missing
// packages. The compiler is a script.
func TestDriver(t *testing.T) {
	cache, bin := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	log := filepath.Join(bin, "log")
	compiler := filepath.Join(bin, "cc")
	write := func(script string) {
		if err := os.WriteFile(compiler, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(`echo "$@" >>` + log + `; cp "$2" "$4"`)
	d := driver{source: "gloo.cc", compile: []string{compiler, "-O3"}, libs: []string{"-lgloo"}, needs: "libgloo-dev"}
	var paths [2]string
	for i := range paths {
		var err error
		if paths[i], err = d.built(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	made, err := os.ReadFile(paths[0])
	if err != nil || !strings.Contains(string(made), "AllreduceRingChunked") || paths[0] != paths[1] {
		t.Errorf("driver is %q, then %q, error %v", paths[0], paths[1], err)
	}
	if calls, err := os.ReadFile(log); err != nil || strings.Count(string(calls), "\n") != 1 || !strings.HasSuffix(string(calls), "-lgloo\n") {
		t.Errorf("the compiler was called with %q, error %v; want once", calls, err)
	}
	write("echo 'x.cc:1: fatal error: gloo/allreduce.h: No such file' >&2; exit 1")
	d.libs = []string{"-lother"}
	_, err = d.built(t.Context())
	if err == nil || !strings.Contains(err.Error(), "fatal error: gloo/allreduce.h") || !strings.HasSuffix(err.Error(), "want: apt-get install libgloo-dev") {
		t.Errorf("error is %v, want one with the reason and the package", err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "*", "bench", "making*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v are left, error %v", left, err)
	}
	if err := missing("no-such-program", "its-package"); err == nil || !strings.Contains(err.Error(), "apt-get install its-package") {
		t.Errorf("error is %v, want one that names the package", err)
	}
}
