package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// This file measures the cost of a fault for ringtrain and for other libraries with one
// script:
//
//	make faults
//
// Four ranks repeatedly sum the gradients of softmax on MNIST. A rank is killed,
// stopped, or delayed before it joins. The time counts from the fault (from the start
// for the delay).

// cellLimit bounds the time of a cell of the table.
const cellLimit = 60 * time.Second

// The rank with the fault.
const culprit = 2

// A contestant is a way to run ranks.
type contestant struct {
	name    string
	rank    string // variable with the rank
	restart bool   // continues after a loss
	names   *regexp.Regexp
	line    func(b *box, rank []string) []string // command line of the launcher
	program func(t *testing.T, b *box) []string  // command line of a rank
}

// ownJob is a job as long as those of the others.
func ownJob(t *testing.T, b *box) []string {
	return []string{self(b), "train", "mnist", "--set", "input.synthetic=true", "--set", "train.steps=100000000",
		"--set", "log.every=20", "--set", "checkpoint.dir=", "--set", "export.savedmodel="}
}

func contestants() []contestant {
	ours := regexp.MustCompile(`\brank 2\b|missing 2 `)
	run := func(more ...string) func(*box, []string) []string {
		return func(b *box, rank []string) []string {
			return append(append([]string{self(b), "run", "-np", "4"}, more...), rank...)
		}
	}
	return []contestant{
		{name: "ringtrain", rank: "RINGTRAIN_RANK", names: ours, line: run(), program: ownJob},
		{name: "ringtrain --restarts 1", rank: "RINGTRAIN_RANK", restart: true, names: ours, line: run("--restarts", "1"), program: ownJob},
		{
			name: "torchrun, DDP, gloo", rank: "RANK", names: regexp.MustCompile(`(?i)\brank\W*2\b`),
			line: func(b *box, rank []string) []string {
				port := strconv.Itoa(freePorts(b, 1)[0])
				return append([]string{"/usr/bin/python3", "-m", "torch.distributed.run", "-r", "9:1", "-t", "9:1", "--no_python",
					"--nnodes", "1", "--nproc_per_node", "4", "--master_port", port}, rank...)
			},
			program: func(t *testing.T, b *box) []string {
				if err := exec.Command("/usr/bin/python3", "-c", "import torch.distributed.run").Run(); err != nil {
					t.Skipf("no torch (Debian: python3-torch): %v", err)
				}
				return []string{"/usr/bin/python3", absolute(t, "testdata", "ddp.py")}
			},
		},
		{
			name: "mpirun (Open MPI)", rank: "OMPI_COMM_WORLD_RANK", names: regexp.MustCompile(`(?i)\brank 2\b`),
			line: func(b *box, rank []string) []string {
				mpirun := "mpirun"
				if path, err := exec.LookPath("mpirun.openmpi"); err == nil {
					mpirun = path
				}
				return append([]string{mpirun, "--allow-run-as-root", "--oversubscribe", "-np", "4"}, rank...)
			},
			program: func(t *testing.T, b *box) []string {
				mpicc := "mpicc"
				if path, err := exec.LookPath("mpicc.openmpi"); err == nil {
					mpicc = path
				}
				made := b.path("allreduce")
				if out, err := exec.Command(mpicc, "-O2", absolute(t, "testdata", "allreduce.c"), "-o", made).CombinedOutput(); err != nil {
					t.Skipf("no mpicc (Debian: libopenmpi-dev): %v\n%s", err, out)
				}
				return []string{made}
			},
		},
	}
}

func absolute(t *testing.T, elem ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A cell has the cost of a fault. A negative time is beyond the limit.
type cell struct {
	system, fault string
	told          time.Duration // until the first line that names the rank
	over          time.Duration // until the end of all ranks, or the next step
	how           string        // kind of the end
	lines         int           // lines printed between the fault and the end
}

func (c cell) String() string {
	seconds := func(d time.Duration) string {
		if d < 0 {
			return fmt.Sprintf("> %.0f s", cellLimit.Seconds())
		}
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	named := "yes"
	if c.told < 0 {
		named = "no"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %d |", c.fault, c.system, seconds(c.told), seconds(c.over), c.how, named, c.lines)
}

// TestFaultsBeside measures the cost of faults beside other launchers and prints the table of
// docs/when-it-breaks.md.
func TestFaultsBeside(t *testing.T) {
	if os.Getenv("RINGTRAIN_FAULTS") == "" {
		t.Skip("takes ten minutes and other launchers: set RINGTRAIN_FAULTS=1, as make faults does")
	}
	var table []string
	for _, fault := range []string{"kill -9", "SIGSTOP", "missing at start"} {
		for _, who := range contestants() {
			if fault == "missing at start" && who.restart {
				continue // the same as without
			}
			t.Run(fmt.Sprintf("fault=%s/system=%s", fault, who.name), func(t *testing.T) {
				c := who.suffer(t, fault)
				table = append(table, c.String())
				t.Log(c)
				if strings.HasPrefix(who.name, "ringtrain") {
					c.wantOver(t, who.restart)
				}
			})
		}
	}
	fmt.Printf("\n| fault of one rank of 4 | | named after | over after | how | named | lines |\n| --- | --- | --- | --- | --- | --- | --- |\n%s\n\n",
		strings.Join(table, "\n"))
}

// wantOver verifies that the rank was named, and the kind of the end: a wait at the
// start, a next step if the rank is restarted, else the end of all ranks.
func (c cell) wantOver(t *testing.T, restart bool) {
	t.Helper()
	if c.told < 0 || c.told > 20*time.Second {
		t.Errorf("the rank was first named after %v, want 20s at most on any machine", c.told)
	}
	want := map[string]string{"kill -9": "exit code 137", "SIGSTOP": "exit code 138", "missing at start": "waits for it"}[c.fault]
	if restart {
		want = "goes on"
	}
	if c.how != want {
		t.Errorf("after %s of a rank: %s, want %s", c.fault, c.how, want)
	}
	if c.fault != "missing at start" && (c.over < 0 || c.over > 30*time.Second) {
		t.Errorf("it was over after %v, want 30s at most on any machine", c.over)
	}
}

// suffer runs ranks and injects a fault into one.
func (co contestant) suffer(t *testing.T, fault string) cell {
	t.Helper()
	b := newBox(t).with("OMP_NUM_THREADS=1", "USER=root").lasting(4 * time.Minute)
	rank := co.program(t, b)
	if fault == "missing at start" {
		rank = append([]string{"sh", "-c", `[ "$` + co.rank + `" = 2 ] && exec sleep 1000; exec "$0" "$@"`}, rank...)
	}
	line := co.line(b, rank)
	p := b.startProgram(line[0], line[1:]...)
	c := cell{system: co.name, fault: fault}
	at, before := p.began, 0
	if fault != "missing at start" {
		p.await("step 20")
		before = strings.Count(p.stdout.String()+p.stderr.String(), "\n")
		pid := b.pidBy(co.rank, culprit)
		at = time.Now()
		kill(t, pid, map[string]syscall.Signal{"kill -9": syscall.SIGKILL, "SIGSTOP": syscall.SIGSTOP}[fault])
	}
	c.measure(p, co, at)
	c.lines = strings.Count(p.stdout.String()+p.stderr.String(), "\n") - before
	b.endAll(p)
	return c
}

// measure waits for the end, up to the limit.
func (c *cell) measure(p *testProcess, who contestant, at time.Time) {
	c.told, c.over, c.how = -1, -1, "hangs"
	steps := -1 // length of the output when the rank was named
	for time.Since(at) < cellLimit {
		now := time.Since(at)
		out, said := p.stdout.String(), p.stderr.String()
		if c.told < 0 && who.names.MatchString(out+said) {
			c.told = now
		}
		if who.restart && steps < 0 && strings.Contains(said+out, "generation 2 of") {
			steps = strings.Count(out, "step ")
		}
		if steps >= 0 && strings.Count(out, "step ") > steps {
			c.over, c.how = now, "goes on"
			return
		}
		if c.told >= 0 {
			c.how = "waits for it"
		}
		select {
		case <-p.ended:
			c.over, c.how = time.Since(at), fmt.Sprintf("exit code %d", p.cmd.ProcessState.ExitCode())
			if c.told < 0 && who.names.MatchString(p.stdout.String()+p.stderr.String()) {
				c.told = c.over
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// pidBy returns the process whose variable has a value; of several the last one.
func (b *box) pidBy(name string, value int) int {
	b.Helper()
	found := 0
	for pid, env := range b.processes() {
		if bytes.Contains(env, []byte("\x00"+name+"="+strconv.Itoa(value)+"\x00")) {
			found = max(found, pid)
		}
	}
	if found == 0 {
		b.Fatalf("no process with %s=%d", name, value)
	}
	return found
}

// endAll ends the launcher and all of its processes.
func (b *box) endAll(p *testProcess) {
	b.Helper()
	p.signal(syscall.SIGKILL)
	for pid := range b.processes() { // they hold the pipes of its output
		syscall.Kill(pid, syscall.SIGKILL)
	}
	<-p.ended
	b.nothingLeft(20*time.Second, nil)
}
