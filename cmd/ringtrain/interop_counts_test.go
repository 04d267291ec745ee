package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSuiteMatchesNothing verifies that a suite fails if its pattern matches no test,
// as after a rename.
func TestSuiteMatchesNothing(t *testing.T) {
	cmd := exec.Command("go", "run", "./.ci/suite", "--", "-vet=off", "-run", "^TestNobodyWroteThis$", "./ring/cost")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "ringtrain/ring/cost: no test matches") {
		t.Errorf("error %v, want one that says that no test matches\n%s", err, out)
	}
}

// TestInteropCounts verifies that .ci/interop counts all its tests, also the tests
// over hosts, and that .ci/interop fails if a pattern matches no test.
func TestInteropCounts(t *testing.T) {
	lines := 0
	for line := range strings.Lines(readFile(t, "../../.ci/interop")) {
		if strings.Contains(line, "go test") && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			t.Errorf(".ci/interop runs tests that it does not count: %s", line)
		}
		if strings.HasPrefix(line, "suite ") {
			lines++
		}
	}
	if lines < 2 {
		t.Errorf("%d suites, want the peers and the hosts", lines)
	}
}
