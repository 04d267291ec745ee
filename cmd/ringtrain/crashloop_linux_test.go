package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// TestCrashLoopProgress kills one rank five times, each time soon after its start and
// after completed steps. It verifies that the launcher does not treat this as a crash
// loop.
func TestCrashLoopProgress(t *testing.T) {
	const steps = 150_000
	b := newBox(t)
	p := b.start(append([]string{"run", "-np", "2", "--restarts", "100"}, longLinear(steps, "--set", "log.every=50")...)...)
	p.await(`"event":"step"`)
	for i := range 5 {
		kill(t, b.rankPID(1), syscall.SIGKILL)
		awaitBehind(p, fmt.Sprintf(`"generation":%d,`, i+2), `"event":"step"`)
	}
	e := p.wait()
	if want := longAlone(t, steps); e.code != 0 || e.digest(t) != want {
		t.Errorf("ended with %d and digest %s, want 0 and %s\n%s", e.code, e.digest(t), want, e.stderr)
	}
	if !strings.Contains(e.stderr, "it is started again (95 restarts left)") {
		t.Errorf("nobody says that 95 restarts are left:\n%s", e.stderr)
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
