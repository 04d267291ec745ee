package main

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDifferentBuilds starts two ranks of the same version and different builds. It
// verifies that they do not join one job, that the last line distinguishes the builds,
// and that a copy of one program is the same build. The other build is this program with
// another build id.
func TestDifferentBuilds(t *testing.T) {
	b := newBox(t)
	one, other := filepath.Join(b.home, "copy"), filepath.Join(b.home, "other")
	program, err := os.ReadFile(self(b))
	if err != nil {
		t.Fatal(err)
	}
	start := func(second string, text []byte) (ends []ended) {
		if err := os.WriteFile(second, text, 0o700); err != nil {
			t.Fatal(err)
		}
		port, ranks := freePorts(t, 1)[0], []*testProcess{}
		for rank, program := range []string{self(b), second} {
			ranks = append(ranks, b.with(rankVariables(rank, 2, port)...).startProgram(program, "train", "linear", "--set", "train.epochs=1", "--set", "export.if=always", "--start-timeout", "20s"))
		}
		for _, p := range ranks {
			ends = append(ends, p.wait())
		}
		return ends
	}
	for rank, e := range start(one, program) {
		if e.code != 0 {
			t.Errorf("rank %d of two copies of a program ended with %d: %s", rank, e.code, e.last())
		}
	}
	f, err := elf.Open(one)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id := f.Section(".note.go.buildid")
	program[id.Offset+id.Size-1] ^= 1
	for rank, e := range start(other, program) {
		text := e.last()
		if e.code != 76 || strings.Count(text, version) < 2 || !namesRank(text, 0) || !namesRank(text, 1) {
			t.Errorf("rank %d ended with %d and %q, want 76 and both builds", rank, e.code, text)
		}
	}
}
