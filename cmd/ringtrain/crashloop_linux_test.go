package main

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestCrashLoopProgress kills one rank five times, each time soon after its start and
// after completed steps. It verifies that the launcher does not treat this as a crash
// loop, and that the job then stops with the digest of an undisturbed one.
func TestCrashLoopProgress(t *testing.T) {
	b := newBox(t)
	p := b.start(append([]string{"run", "-np", "2", "--restarts", "100"}, longLinear(forever, "--set", "log.every=50")...)...)
	p.await(`"event":"step"`)
	for i := range 5 {
		kill(t, b.rankPID(1), syscall.SIGKILL)
		awaitBehind(p, fmt.Sprintf(`"generation":%d,`, i+2), `"event":"step"`)
	}
	p.signal(syscall.SIGTERM)
	e := p.wait()
	if said := "it is started again (95 restarts left)"; e.code != 143 || !strings.Contains(e.stderr, said) {
		t.Fatalf("ended with %d, want 143 and %q\n%s", e.code, said, e.stderr)
	}
	steps := int(e.only(t, "error").num("step"))
	alone := append([]string{"train"}, longLinear(steps, "--set", "schedule.steps="+strconv.Itoa(forever))...)
	if got, want := e.lastLine(0), newBox(t).must(0, alone...).last(); got != want || !strings.HasPrefix(want, "digest=") {
		t.Errorf("rank 0 ended with %q after step %d, want %q", got, steps, want)
	}
}

// awaitBehind returns after standard output has text after the first occurrence of mark.
func awaitBehind(p *testProcess, mark, text string) {
	p.t.Helper()
	p.await(mark)
	for {
		out, grown := p.stdout.snapshot()
		if _, behind, _ := strings.Cut(out, mark); strings.Contains(behind, text) {
			return
		}
		select {
		case <-grown:
		case <-p.ended:
			p.t.Fatalf("%s\nended without %q behind %q\n%s", p.line, text, mark, p.stderr)
		}
	}
}

// TestCrashLoopProgram runs a program that never joins the rendezvous and that a signal
// ends at its first start. It verifies the restart, its delay, and the report of
// remaining restarts.
func TestCrashLoopProgram(t *testing.T) {
	b := newBox(t)
	const program = `if test "$RINGTRAIN_RANK" = 1 && mkdir once; then kill -9 $$; fi; echo done`
	e := b.run("run", "-np", "2", "--restarts", "3", "--", "sh", "-c", program)
	if e.code != 0 || strings.Count(e.stdout, "done") != 2 {
		t.Errorf("ended with %d, want 0 and two ranks that are done\n%s%s", e.code, e.stdout, e.stderr)
	}
	if said := "rank 1 was killed by signal 9 (killed): it is started again in 1s (2 restarts left)"; !strings.Contains(e.stderr, said) {
		t.Errorf("nobody says %q:\n%s", said, e.stderr)
	}
}
