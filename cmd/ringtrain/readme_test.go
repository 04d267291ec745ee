package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"ringtrain/docs"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
)

// docSection returns the text of a page of the manual under a heading, up to the next one.
func docSection(t *testing.T, page, heading string) string {
	t.Helper()
	text, _ := docs.Page(page)
	_, rest, ok := strings.Cut(text, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("docs/%s.md: no section %q", page, heading)
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	return section
}

// TestReadme verifies that the manual has each event with its fields, and each exit code.
func TestReadme(t *testing.T) {
	events := docSection(t, "reference", "Events")
	for name, list := range fields {
		_, row, ok := strings.Cut(events, fmt.Sprintf("\n| `%s` |", name))
		row, _, _ = strings.Cut(row, "\n")
		if !ok {
			t.Errorf("docs/reference.md: no event %s", name)
		}
		for _, field := range strings.Fields(list) {
			if !strings.Contains(row, "`"+field+"`") {
				t.Errorf("docs/reference.md: event %s has no field %s", name, field)
			}
		}
	}
	codes := docSection(t, "when-it-breaks", "Exit codes")
	for _, code := range []int{
		exitcode.OK, exitcode.Failed, exitcode.Usage, exitcode.BadData, exitcode.NoInput, exitcode.Internal, exitcode.CannotCreate, exitcode.IO,
		exitcode.Protocol, exitcode.Auth, exitcode.NotFinite, exitcode.Diverged, exitcode.NotRunnable, exitcode.NotFound,
		exitcode.Interrupted, exitcode.Retry, exitcode.Terminated, launch.TimedOut,
	} {
		if !regexp.MustCompile(fmt.Sprintf(`\n\| (\d+, )?%d(, \d+)? \|`, code)).MatchString(codes) {
			t.Errorf("docs/when-it-breaks.md: no exit code %d", code)
		}
	}
}
