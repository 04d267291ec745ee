package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds every wait of a test, unless its box has a limit of its own.
// Only a fault comes near it.
const patience = 60 * time.Second

// A process is a command line that a test started.
type testProcess struct {
	t              testing.TB
	cmd            *exec.Cmd
	line           string
	stdout, stderr *recorder
	began          time.Time
	ended          chan struct{} // closed when it has ended and its output is here
	endedAt        time.Time     // then
	killed         bool          // by the test
	limit          time.Duration
}

// start starts ringtrain with args. It is killed when the test ends.
func (b *box) start(args ...string) *testProcess {
	b.Helper()
	return b.startProgram(self(b), args...)
}

// self is this binary, which acts as ringtrain in a box.
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

// startWithin starts a program that is killed if it takes longer, or when the
// test ends.
func (b *box) startWithin(limit time.Duration, program string, args ...string) *testProcess {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	p := &testProcess{t: b, line: strings.Join(args, " "), stdout: newRecorder(), stderr: newRecorder(), ended: make(chan struct{}), limit: limit}
	p.cmd = exec.CommandContext(ctx, program, args...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = b.dir, b.env, p.stdout, p.stderr
	p.cmd.WaitDelay = patience
	if err := p.cmd.Start(); err != nil {
		cancel()
		b.Fatal(err)
	}
	p.began = time.Now()
	go func() {
		defer close(p.ended)
		p.cmd.Wait() // the state says how it ended
		p.endedAt = time.Now()
	}()
	b.Cleanup(func() {
		cancel()
		<-p.ended
	})
	return p
}

// wait returns how the process ended.
func (p *testProcess) wait() ended {
	p.t.Helper()
	<-p.ended // within the limit: it is killed then
	e := ended{p.cmd.ProcessState.ExitCode(), p.stdout.String(), p.stderr.String()}
	if e.code == -1 && !p.killed {
		p.t.Fatalf("%s\nwas %v, and ended only by force\n%s%s", p.line, p.cmd.ProcessState, e.stdout, e.stderr)
	}
	return e
}

// signal sends the process a signal.
func (p *testProcess) signal(s os.Signal) {
	p.t.Helper()
	p.killed = p.killed || s == os.Kill
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
}

// await returns when the process has printed text, on either output.
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

// recorder keeps what is written to it and tells of growth.
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

// await returns when text has been written, and fails the test if it is not in time.
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
