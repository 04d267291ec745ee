package main

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringtrain/ring/ringtest/netns"
	"ringtrain/ring/token"
)

// The tests of the interop files need the usual launchers, which `make interop`
// installs; it also sets INTEROP. Names of tests that need hosts end in Hosts.

// levelled is a job with the same digest on one host and on several: one ring, no codec.
// With RINGTRAIN_MNIST it is a job of a minute on real digits.
func levelled(t *testing.T) []string {
	t.Helper()
	job := digits(10)
	if os.Getenv("RINGTRAIN_MNIST") != "" {
		job = []string{"mnist", "--json", "--data", shared(t), "--set", "train.steps=6000"}
	}
	return append(job, "--set", "allreduce.levels=flat", "--set", "allreduce.codec=none", "--set", "checkpoint.dir=", "--set", "export.savedmodel=")
}

// trainLine is the command line of one rank of that job for any launcher.
func (b *box) trainLine() []string {
	b.Helper()
	return append([]string{self(b), "train"}, levelled(b.T)...)
}

// launch runs a launcher with its arguments and that command line.
func (b *box) launch(launcher string, args ...string) ended {
	b.Helper()
	return b.startProgram(launcher, append(args, b.trainLine()...)...).wait()
}

// wantSame verifies that four ranks have succeeded with the digest of `ringtrain run` on
// one host.
func wantSame(t *testing.T, e ended) {
	t.Helper()
	if e.code != 0 {
		t.Fatalf("the launcher ended with %d, want 0\n%s%s", e.code, e.stdout, e.stderr)
	}
	if got := e.only(t, "start").num("world_size"); got != 4 {
		t.Errorf("world size %v, want 4", got)
	}
	want := newBox(t).must(0, on(4, levelled(t))...).digest(t)
	if n := strings.Count(e.stderr, "digest="+want); n != 4 {
		t.Errorf("%d ranks end with digest %s, want 4:\n%s", n, want, e.stderr)
	}
}

// program returns the path of a program. It skips the test if the program is missing, or
// if other launchers are not selected because they are slow.
func program(t *testing.T, name, pkg string) string {
	t.Helper()
	if os.Getenv("INTEROP") == "" {
		t.Skipf("set INTEROP=1 to start ranks by other launchers, such as %s", name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s (Debian: %s)", name, pkg)
	}
	return path
}

// newToken returns a variable with a new token.
func newToken() string { return "RINGTRAIN_TOKEN=" + token.New().Reveal() }

// TestInteropOpenMPI verifies a start by Open MPI's mpirun.
func TestInteropOpenMPI(t *testing.T) {
	mpirun := program(t, "mpirun.openmpi", "openmpi-bin")
	b := newBox(t).with("OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	wantSame(t, b.launch(mpirun, "-n", "4", "--oversubscribe"))
}

// openMPI returns the command line of Open MPI's mpirun as root.
func openMPI(b *box, args ...string) *exec.Cmd {
	b.Helper()
	cmd := exec.Command(program(b.T, "mpirun.openmpi", "openmpi-bin"), append([]string{"--oversubscribe"}, args...)...)
	cmd.Dir, cmd.Env = b.dir, append(slices.Clip(b.env), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "TERM=xterm-256color")
	return cmd
}

// TestInteropOpenMPILog verifies that ranks of mpirun, to which it gives pseudo-terminals, print plain
// lines, which mpirun writes into a log.
func TestInteropOpenMPILog(t *testing.T) {
	b := newBox(t)
	out, err := openMPI(b, append([]string{"-n", "2"}, b.trainLine()...)...).CombinedOutput()
	if err != nil || strings.ContainsAny(string(out), "\x1b") || !strings.Contains(string(out), "digest=") {
		t.Errorf("error %v, want a log with digests and without escape codes:\n%q", err, out)
	}
}

// TestInteropOpenMPIInput verifies that rank 0 of run reads the standard input as rank 0 of mpirun
// does, all of it, and that the other ranks read none.
func TestInteropOpenMPIInput(t *testing.T) {
	b := newBox(t)
	text := strings.Repeat("a line of the input\n", 100_000)
	count := []string{"-n", "2", "sh", "-c", "n=$(wc -l); echo read $n"}
	ours := exec.Command(self(b), append([]string{"run"}, count...)...)
	ours.Dir, ours.Env = b.dir, b.env
	for name, cmd := range map[string]*exec.Cmd{"mpirun": openMPI(b, count...), "run": ours} {
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), "read 100000\n") || !strings.Contains(string(out), "read 0\n") {
			t.Errorf("%s: error %v, output %q, want one rank that reads all lines and one that reads none", name, err, out)
		}
	}
}

// TestInteropOpenMPIHostfile verifies that run starts as many ranks as mpirun from a hostfile.
func TestInteropOpenMPIHostfile(t *testing.T) {
	for _, line := range []string{"slots = 4", "slots= 3", "cpu=2", "count=2", "slots=2 max-slots = 5", "max_slots=3"} {
		t.Run("line="+line, func(t *testing.T) {
			b := newBox(t)
			b.write("hosts", "localhost "+line+"\n")
			want, err := openMPI(b, "--hostfile", b.path("hosts"), "echo", "here").Output()
			if err != nil {
				t.Fatal(err)
			}
			e := b.must(0, "run", "--hostfile", b.path("hosts"), "echo", "here")
			if got, want := strings.Count(e.stdout, "here"), strings.Count(string(want), "here"); got != want {
				t.Errorf("%d ranks, want %d as of mpirun", got, want)
			}
		})
	}
}

// TestInteropMPICH verifies a start by MPICH's mpiexec on one host.
func TestInteropMPICH(t *testing.T) {
	mpiexec := program(t, "mpiexec.hydra", "mpich")
	wantSame(t, newBox(t).launch(mpiexec, "-n", "4"))
}

// TestInteropMPICHFails verifies that mpiexec ends with the code of a fault on all
// ranks. Some faults occur before the join, so the ranks exchange addresses through
// mpiexec.
func TestInteropMPICHFails(t *testing.T) {
	mpiexec := program(t, "mpiexec.hydra", "mpich")
	b := newBox(t)
	e := b.startProgram(mpiexec, "-n", "2", self(b), "train", "mnist").wait()
	if e.code != 66 || !strings.Contains(e.stderr, "train-images-idx3-ubyte.gz") {
		t.Errorf("mpiexec ended with %d, want 66 and the file named\n%s", e.code, e.stderr)
	}
}

// TestInteropMPICHByPort verifies the form of mpiexec that passes neither rank nor size.
func TestInteropMPICHByPort(t *testing.T) {
	mpiexec := program(t, "mpiexec.hydra", "mpich")
	e := newBox(t).launch(mpiexec, "-pmi-port", "-n", "2")
	if e.code != 64 || !strings.Contains(e.stderr, "without -pmi-port") {
		t.Errorf("mpiexec ended with %d, want 64 and the way out\n%s", e.code, e.stderr)
	}
}

// reach writes the program rsh, which runs a command line on a host as ssh does, and
// returns the hosts' names.
func (b *box) reach(hosts []netns.Host) []string {
	b.Helper()
	rsh := "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nhost=$1; shift\ncase $host in\n"
	var names []string
	for _, h := range hosts {
		names = append(names, h.Addr)
		rsh += h.Addr + ") exec " + strings.Join(h.Command("sh", "-c"), " ") + " \"$*\";;\n"
	}
	b.write("rsh", rsh+"esac\necho \"unknown host $host\" >&2; exit 1\n")
	if err := os.Chmod(b.path("rsh"), 0o755); err != nil {
		b.Fatal(err)
	}
	return names
}

// TestInteropOpenMPIHosts verifies a start of two ranks on each of two hosts by mpirun.
// mpirun does not pass host names to the ranks, so the rendezvous runs separately.
func TestInteropOpenMPIHosts(t *testing.T) {
	mpirun := program(t, "mpirun.openmpi", "openmpi-bin")
	hosts := newHosts(t, 2, "")
	b := newBox(t).with(newToken(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	names := b.reach(hosts)
	on := hosts[1].Command(self(b), "rendezvous", "--listen", ":29400")
	b.startProgram(on[0], on[1:]...).await("rendezvous on")
	mpi := hosts[0].Command(mpirun, "--mca", "plm_rsh_agent", b.path("rsh"), "--mca", "oob_tcp_if_include", "eth0",
		"-H", names[0]+":2,"+names[1]+":2", "-n", "4", "-x", "RINGTRAIN_TOKEN")
	e := b.launch(mpi[0], mpi[1:]...)
	if e.code != 64 || !strings.Contains(e.stderr, "add --rendezvous HOST:PORT") {
		t.Errorf("without a rendezvous mpirun ended with %d, want 64 and the line to add\n%s", e.code, e.stderr)
	}
	line := slices.Concat(mpi, b.trainLine(), []string{"--rendezvous", names[1] + ":29400"})
	e = b.startProgram(line[0], line[1:]...).wait()
	wantSame(t, e)
	if got := e.only(t, "start").num("hosts"); got != 2 {
		t.Errorf("the ranks are on %v hosts, want 2", got)
	}
}

// TestInteropMPICHHosts verifies a start of two ranks on each of two hosts by mpiexec
// with a replacement for ssh. Rank 0's address reaches the other ranks through mpiexec.
func TestInteropMPICHHosts(t *testing.T) {
	mpiexec := program(t, "mpiexec.hydra", "mpich")
	hosts := newHosts(t, 2, "")
	b := newBox(t).with(newToken())
	names := b.reach(hosts)
	line := hosts[0].Command(mpiexec, "-launcher", "ssh", "-launcher-exec", b.path("rsh"),
		"-localhost", names[0], "-hosts", strings.Join(names, ","), "-ppn", "2", "-n", "4")
	e := b.launch(line[0], line[1:]...)
	wantSame(t, e)
	if got := e.only(t, "start").num("hosts"); got != 2 {
		t.Errorf("the ranks are on %v hosts, want 2", got)
	}
}

// TestInteropTorchrun verifies a start by torchrun without a token, with a program that is not Python
// and a port of torchrun's choice.
func TestInteropTorchrun(t *testing.T) {
	python := program(t, "/usr/bin/python3", "python3") // Debian's Python, which has Debian's modules
	if err := exec.Command(python, "-c", "import torch.distributed.run").Run(); err != nil {
		t.Skipf("%s has no torch (Debian: python3-torch): %v", python, err)
	}
	port := strconv.Itoa(freePorts(t, 1)[0])
	e := newBox(t).launch(python, "-m", "torch.distributed.run", "-r", "9:1", "-t", "9:1", "--no_python", "--nnodes", "1", "--nproc_per_node", "4",
		"--rdzv_backend", "c10d", "--rdzv_endpoint", "localhost:"+port, "--rdzv_id", "digits")
	wantSame(t, e)
	if got := e.only(t, "start").text("job_id"); got != "digits" {
		t.Errorf("job id %q, want the run id", got)
	}
}

// TestInteropTFConfig verifies a start of the tasks of a TFJob, including those that
// ringtrain does not need.
func TestInteropTFConfig(t *testing.T) {
	ports := freePorts(t, 5)
	at := func(i int) string { return `"127.0.0.1:` + strconv.Itoa(ports[i]) + `"` }
	cluster := `{"cluster":{"chief":[` + at(0) + `],"ps":[` + at(4) + `],"worker":[` + at(1) + `,` + at(2) + `,` + at(3) + `]},"environment":"cloud","task":`
	b := newBox(t)
	var tasks []*testProcess
	for _, task := range []string{
		`"chief","index":0`, `"worker","index":0`, `"worker","index":1`, `"worker","index":2`, `"ps","index":0`, `"evaluator","index":0`,
	} {
		line := b.trainLine()
		tasks = append(tasks, b.with("TF_CONFIG="+cluster+`{"type":`+task+`}}`).startProgram(line[0], line[1:]...))
	}
	e := tasks[0].wait()
	for i, p := range tasks[1:] {
		other := p.wait()
		if other.code != 0 || i >= 3 && !strings.Contains(other.stderr, "is not needed") {
			t.Errorf("task %d ended with %d\n%s", i+1, other.code, other.stderr)
		}
		e.stderr += other.stderr
	}
	wantSame(t, e)
	if !strings.Contains(e.stderr, "1 ps and 0 evaluator entries are passed over") {
		t.Errorf("nobody says that a ps is passed over\n%s", e.stderr)
	}
}
