package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDifferentBuilds starts two ranks of the same version and different builds. It
// verifies that they do not join one job, that the last line distinguishes the builds,
// and that a copy of one program is the same build.
func TestDifferentBuilds(t *testing.T) {
	b := newBox(t)
	programs := []string{filepath.Join(b.home, "one"), filepath.Join(b.home, "other"), filepath.Join(b.home, "copy")}
	for i, flags := range []string{"-X main.version=1.2.3 -w", "-X main.version=1.2.3 -s"} {
		if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags", flags, "-o", programs[i], ".").CombinedOutput(); err != nil {
			t.Fatalf("cannot build: %v\n%s", err, out)
		}
	}
	if out, err := exec.Command("cp", programs[0], programs[2]).CombinedOutput(); err != nil {
		t.Fatalf("cannot copy: %v\n%s", err, out)
	}
	start := func(second string) (ends []ended) {
		port, ranks := freePorts(t, 1)[0], []*testProcess{}
		for rank, program := range []string{programs[0], second} {
			ranks = append(ranks, b.with(rankVariables(rank, 2, port)...).startProgram(program, "train", "linear", "--set", "train.epochs=1", "--set", "export.if=always", "--start-timeout", "20s"))
		}
		for _, p := range ranks {
			ends = append(ends, p.wait())
		}
		return ends
	}
	for rank, e := range start(programs[1]) {
		text := e.last()
		if e.code != 76 || strings.Count(text, "1.2.3") < 2 || !namesRank(text, 0) || !namesRank(text, 1) {
			t.Errorf("rank %d ended with %d and %q, want 76 and both builds", rank, e.code, text)
		}
	}
	for rank, e := range start(programs[2]) {
		if e.code != 0 {
			t.Errorf("rank %d of two copies of a program ended with %d: %s", rank, e.code, e.last())
		}
	}
}
