package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringtrain/ring/exitcode"
)

// patience is the time limit of every wait of a test, unless its box has another limit.
// Only a fault comes near it.
const patience = 60 * time.Second

// A process is a command line that a test has started.
type testProcess struct {
	t              testing.TB
	cmd            *exec.Cmd
	line           string
	stdout, stderr *recorder
	began          time.Time
	ended          chan struct{} // closed after its end and its last output
	endedAt        time.Time     // its state after the end
	killed         bool          // by the test
	limit          time.Duration
}

// start starts ringtrain with args. The test kills it at its end.
func (b *box) start(args ...string) *testProcess {
	b.Helper()
	return b.startProgram(self(b), args...)
}

// self returns this binary, which acts as ringtrain in a box.
func self(b *box) string {
	b.Helper()
	path, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// startProgram starts any program in the box.
func (b *box) startProgram(program string, args ...string) *testProcess {
	b.Helper()
	return b.startWithin(b.limit, program, args...)
}

// startWithin starts a program and kills it after a time limit or at the end of the
// test.
func (b *box) startWithin(limit time.Duration, program string, args ...string) *testProcess {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	p := &testProcess{t: b, line: strings.Join(args, " "), stdout: newRecorder(), stderr: newRecorder(), ended: make(chan struct{}), limit: limit}
	p.cmd = exec.CommandContext(ctx, program, args...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = b.dir, b.env, p.stdout, p.stderr
	p.cmd.WaitDelay, p.cmd.SysProcAttr = patience, b.system
	if err := p.cmd.Start(); err != nil {
		cancel()
		b.Fatal(err)
	}
	p.began = time.Now()
	go func() {
		defer close(p.ended)
		p.cmd.Wait() // the state has the result
		p.endedAt = time.Now()
	}()
	b.Cleanup(func() {
		cancel()
		<-p.ended
	})
	return p
}

// wait returns the result of the process.
func (p *testProcess) wait() ended {
	p.t.Helper()
	<-p.ended // at the latest after the limit, which kills it
	e := ended{p.cmd.ProcessState.ExitCode(), p.stdout.String(), p.stderr.String()}
	if e.code == -1 && !p.killed {
		p.t.Fatalf("%s\nwas %v, and ended only by force\n%s%s", p.line, p.cmd.ProcessState, e.stdout, e.stderr)
	}
	p.wantExplained(e)
	return e
}

// wantExplained verifies for every job of a launcher that a message ends that the launcher names
// the message's entry in docs/when-it-breaks.md, once. A command line that is wrong ends before
// there is a job.
func (p *testProcess) wantExplained(e ended) {
	p.t.Helper()
	own := 0
	for line := range strings.Lines(e.stderr) {
		if strings.HasPrefix(line, "ringtrain: what to do: ringtrain help docs/when-it-breaks#") {
			own++
		}
	}
	_, last, _ := strings.Cut("\n"+strings.TrimSuffix(e.stderr, "\n"), "\nringtrain: ")
	before := []int{0, exitcode.Failed, exitcode.Usage, exitcode.NoInput, exitcode.CannotCreate, exitcode.Auth, exitcode.NotRunnable, exitcode.NotFound}
	if strings.HasPrefix(p.line, "run ") && !p.killed && last != "" && (own > 1 || own == 0 && !slices.Contains(before, e.code)) {
		p.t.Errorf("%s\nended with %d, and names %d entries of docs/when-it-breaks.md, want one:\n%s", p.line, e.code, own, e.stderr)
	}
}

// signal sends the process a signal.
func (p *testProcess) signal(s os.Signal) {
	p.t.Helper()
	p.killed = p.killed || s == os.Kill
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
}

// await returns after the process has printed text on either output.
func (p *testProcess) await(text string) {
	p.t.Helper()
	late, over := time.After(p.limit), false
	for {
		out, outGrown := p.stdout.snapshot()
		err, errGrown := p.stderr.snapshot()
		switch {
		case strings.Contains(out, text) || strings.Contains(err, text):
			return
		case over:
			p.t.Fatalf("%s\ndoes not say %q, %v\n%s%s", p.line, text, p.cmd.ProcessState, out, err)
		}
		select {
		case <-outGrown:
		case <-errGrown:
		case <-p.ended:
			over = true
		case <-late:
			p.t.Fatalf("%s\ndoes not say %q within %v\n%s%s", p.line, text, p.limit, out, err)
		}
	}
}

// recorder keeps its input and signals growth.
type recorder struct {
	mu    sync.Mutex
	text  []byte
	grown chan struct{} // closed by the next Write
}

func newRecorder() *recorder { return &recorder{grown: make(chan struct{})} }

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, p...)
	close(r.grown)
	r.grown = make(chan struct{})
	return len(p), nil
}

func (r *recorder) snapshot() (string, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.text), r.grown
}

func (r *recorder) String() string {
	text, _ := r.snapshot()
	return text
}

// await returns after text was written, or fails the test at the time limit.
func (r *recorder) await(t testing.TB, text string) {
	t.Helper()
	late := time.After(patience)
	for {
		have, grown := r.snapshot()
		if strings.Contains(have, text) {
			return
		}
		select {
		case <-grown:
		case <-late:
			t.Fatalf("%q does not come within %v\n%s", text, patience, have)
		}
	}
}
