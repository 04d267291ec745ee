package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringtrain/docs"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
	"ringtrain/ring/launch/process"
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

// TestReadme verifies that the manual has each event with its fields and each exit code, and no others.
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
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(events, -1) {
		if _, ok := fields[m[1]]; !ok {
			t.Errorf("docs/reference.md: %s is no event", m[1])
		}
	}
	codes := docSection(t, "when-it-breaks", "Exit codes")
	listed := 0
	for _, m := range regexp.MustCompile(`(?m)^\| ([\d, ]+) \|`).FindAllStringSubmatch(codes, -1) {
		listed += len(strings.Split(m[1], ", "))
	}
	known := []int{
		exitcode.OK, exitcode.Failed, exitcode.Usage, exitcode.BadData, exitcode.NoInput, exitcode.Internal, exitcode.CannotCreate, exitcode.IO,
		exitcode.Protocol, exitcode.Auth, exitcode.NotFinite, exitcode.Diverged, exitcode.NotRunnable, exitcode.NotFound,
		exitcode.Interrupted, exitcode.Retry, exitcode.Terminated, launch.TimedOut,
	}
	if listed != len(known) {
		t.Errorf("docs/when-it-breaks.md: %d exit codes, want %d", listed, len(known))
	}
	for _, code := range known {
		if !regexp.MustCompile(fmt.Sprintf(`\n\| (\d+, )?%d(, \d+)? \|`, code)).MatchString(codes) {
			t.Errorf("docs/when-it-breaks.md: no exit code %d", code)
		}
	}
}

// ownVariable matches a variable of ringtrain in its source.
var ownVariable = regexp.MustCompile(`"(RINGTRAIN_[A-Z0-9_]*[A-Z0-9])"`)

// TestReadmeVariables verifies that the manual has each variable of the environment that the program
// reads, but for the one that marks the launcher's guard process and those of tests and benchmarks.
func TestReadmeVariables(t *testing.T) {
	internal := []string{process.GuardVariable, "RINGTRAIN_NETNS", "RINGTRAIN_SHARED"}
	section, found := docSection(t, "reference", "Environment"), 0
	for _, root := range []string{".", "../../ring", "../../model", "../../input", "../../export", "../../bench"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, m := range ownVariable.FindAllStringSubmatch(readFile(t, path), -1) {
				found++
				if !slices.Contains(internal, m[1]) && !strings.Contains(section, "`"+m[1]+"`") {
					t.Errorf("%s reads %s, which docs/reference.md lacks", path, m[1])
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if found == 0 {
		t.Error("no variable was found")
	}
}
