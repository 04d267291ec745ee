package main

import (
	"strings"
	"testing"
)

// TestQuiet verifies that --quiet leaves the result and the warnings of a run, the digests where the output
// is no terminal, and no line of JSON out.
func TestQuiet(t *testing.T) {
	b := newBox(t)
	args := []string{"run", "-np", "2", "linear", "--set", "eval.every=20"}
	all, quiet := b.must(0, args...), b.must(0, append(args, "--quiet", "--bind-to", "core", "--resume", "never")...)
	const result = "[0] done  2,000 steps, 2,000 examples in "
	if _, rest, _ := strings.Cut(all.stdout, result); !strings.HasPrefix(quiet.stdout, result) || strings.Count(quiet.stdout, "\n") != strings.Count(rest, "\n") {
		t.Errorf("says %q, without --quiet %q", quiet.stdout, all.stdout)
	}
	if said := strings.Split(strings.TrimSpace(quiet.stderr), "\n"); len(said) != 2 || strings.Count(quiet.stderr, "] digest=") != 2 {
		t.Errorf("standard error has %q, want two digests", quiet.stderr)
	}
	if events := b.must(0, append(args, "--quiet", "--json", "--resume", "never")...).events(t); len(events) < 5 {
		t.Errorf("%d lines of JSON, want all", len(events))
	}
	if got := b.must(64, append(args, "--quiet", "--verbose")...).stderr; !strings.Contains(got, "--quiet and --verbose are given") {
		t.Errorf("says %q of both", got)
	}
}
