package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// suspendable is a launcher in its own process group, as a shell starts it.
type suspendable struct {
	*testProcess
	b *box
}

func startSuspendable(b *box, args ...string) suspendable {
	b.Helper()
	p := &testProcess{t: b, line: strings.Join(args, " "), stdout: newRecorder(), stderr: newRecorder(), ended: make(chan struct{}), limit: b.limit}
	p.cmd = exec.Command(self(b), args...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = b.dir, b.env, p.stdout, p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		p.cmd.Wait() // the state has the result
	}()
	b.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.ended
	})
	return suspendable{p, b}
}

// suspend acts as Ctrl-Z in a terminal, and returns when all processes are stopped.
func (s suspendable) suspend(ranks ...int) {
	s.t.Helper()
	pids := []int{s.cmd.Process.Pid}
	for _, rank := range ranks {
		pids = append(pids, s.b.rankPID(rank))
	}
	kill(s.t, -s.cmd.Process.Pid, syscall.SIGTSTP)
	eventually(s.t, 10*time.Second, "launcher and ranks are stopped", func() bool {
		for _, pid := range pids {
			if state, _ := stateOf(pid); state != 'T' {
				return false
			}
		}
		return true
	})
}

// goOn acts as fg.
func (s suspendable) goOn() {
	s.t.Helper()
	kill(s.t, -s.cmd.Process.Pid, syscall.SIGCONT)
}

// TestJobSuspended suspends a job for longer than its lease and resumes it. It
// verifies that the ranks stop with the launcher, that no rank is lost, and that
// training continues, in memory and over links.
func TestJobSuspended(t *testing.T) {
	for _, levels := range []string{"auto", "flat"} {
		t.Run("levels="+levels, func(t *testing.T) {
			t.Parallel()
			p := startSuspendable(newBox(t), append([]string{"run", "-np", "3", "--lease", "1s"}, endless("--set", "allreduce.levels="+levels)...)...)
			p.await("step 20 ")
			p.suspend(0, 1, 2)
			before := p.stdout.String()
			<-time.After(2500 * time.Millisecond) // what is measured: longer than the lease
			if after := p.stdout.String(); after != before {
				t.Errorf("while it is stopped the job says %q", strings.TrimPrefix(after, before))
			}
			p.goOn()
			eventually(t, patience, "training goes on", func() bool {
				return strings.Count(p.stdout.String(), "step ") > strings.Count(before, "step ")+5
			})
			p.signal(syscall.SIGTERM)
			e := p.wait()
			if e.code != 143 || strings.Contains(e.stderr, "lost") || strings.Contains(e.stderr, "silent") {
				t.Errorf("ended with %d, want 143, and nobody lost\n%s", e.code, e.stderr)
			}
			if !strings.Contains(e.stderr, "by signal 20, and goes on") {
				t.Errorf("nobody is told of the stop\n%s", e.stderr)
			}
		})
	}
}

// fifo makes a FIFO that is open at both ends, so that neither end blocks at open.
func fifo(b *box, name string) *os.File {
	b.Helper()
	if err := syscall.Mkfifo(b.path(name), 0o600); err != nil {
		b.Fatal(err)
	}
	f, err := os.OpenFile(b.path(name), os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}

// TestSuspendedTimeout verifies that suspended time does not count for --timeout,
// and that a program is suspended too.
func TestSuspendedTimeout(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	over := fifo(b, "over") // the program waits without children, which would have a rank's variables too
	p := startSuspendable(b, "run", "-np", "1", "--timeout", "5s", "sh", "-c", "echo ready; read line <over; echo done")
	p.await("ready")
	p.suspend(0)
	<-time.After(5100 * time.Millisecond) // what is measured: longer than the timeout
	fmt.Fprintln(over, "now")
	p.goOn()
	if e := p.wait(); e.code != 0 || !strings.Contains(e.stdout, "done") {
		t.Errorf("ended with %d, want 0\n%s%s", e.code, e.stdout, e.stderr)
	}
}
