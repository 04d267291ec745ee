package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
)

// readmeSection returns the text of README.md between two headings.
func readmeSection(t *testing.T, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(readFile(t, "../../README.md"), "\n## "+from+"\n")
	text, _, ends := strings.Cut(rest, "\n## "+to+"\n")
	if !ok || !ends {
		t.Fatalf("README.md: no section %q before %q", from, to)
	}
	return text
}

// TestReadme verifies that README.md has every event with its fields, and every exit
// code.
func TestReadme(t *testing.T) {
	events := readmeSection(t, "Events", "Environment")
	for name, list := range fields {
		_, row, ok := strings.Cut(events, fmt.Sprintf("\n| `%s` |", name))
		row, _, _ = strings.Cut(row, "\n")
		if !ok {
			t.Errorf("README.md: no event %s", name)
		}
		for _, field := range strings.Fields(list) {
			if !strings.Contains(row, "`"+field+"`") {
				t.Errorf("README.md: event %s has no field %s", name, field)
			}
		}
	}
	codes := readmeSection(t, "Exit codes", "How gradients travel")
	for _, code := range []int{
		exitcode.OK, exitcode.Failed, exitcode.Usage, exitcode.BadData, exitcode.NoInput, exitcode.Internal, exitcode.CannotCreate, exitcode.IO,
		exitcode.Protocol, exitcode.Auth, exitcode.NotFinite, exitcode.Diverged, exitcode.NotRunnable, exitcode.NotFound,
		exitcode.Interrupted, exitcode.Retry, exitcode.Terminated, launch.TimedOut,
	} {
		if !regexp.MustCompile(fmt.Sprintf(`\n\| (\d+, )?%d(, \d+)? \|`, code)).MatchString(codes) {
			t.Errorf("README.md: no exit code %d", code)
		}
	}
}
