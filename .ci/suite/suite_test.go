package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const listed = `# comment
check-long  cmd  TestLong
mnist  input/idx  TestMNIST
mnist  cmd        TestBoth
cases  cmd        TestBoth
cases  cmd        TestCase
`

// reported passes events of go test to r and returns its output.
func reported(t *testing.T, r *report, events ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "skips")
	if err := os.WriteFile(name, []byte(listed), 0o666); err != nil {
		t.Fatal(err)
	}
	skips, err := readSkips(name)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	r.out, r.log, r.skips = &out, io.Discard, skips
	for _, e := range events {
		r.line([]byte(e + "\n"))
	}
	r.findStale()
	r.finish()
	return out.String()
}

// skippedWith returns the events of a test that is skipped with a message.
func skippedWith(pkg, test, why string) []string {
	at := `"Package":"ringtrain/` + pkg + `","Test":"` + test + `"`
	return []string{
		`{"Action":"run",` + at + `}`,
		`{"Action":"output",` + at + `,"Output":"=== RUN   ` + test + `\n"}`,
		`{"Action":"output",` + at + `,"Output":"    a_test.go:12: ` + why + `\n"}`,
		`{"Action":"output",` + at + `,"Output":"--- SKIP: ` + test + ` (0.00s)\n"}`,
		`{"Action":"skip",` + at + `,"Elapsed":0}`,
	}
}

// passedWith returns the events of a test that passes, optionally with a sub-test.
func passedWith(pkg, test, sub, says string) []string {
	at := `"Package":"ringtrain/` + pkg + `","Test":"` + test
	events := []string{
		`{"Action":"output",` + at + sub + `","Output":"    a_test.go:12: ` + says + `\n"}`,
		`{"Action":"pass",` + at + sub + `"}`,
	}
	if sub != "" {
		events = append(events, `{"Action":"pass",`+at+`"}`)
	}
	return events
}

const passed = `{"Action":"pass","Package":"ringtrain/other","Test":"TestA"}`

// TestSkips verifies which skipped tests are counted, and which fail the suite.
func TestSkips(t *testing.T) {
	for _, tt := range []struct {
		name   string
		report report
		events []string
		last   string
		fault  string
	}{
		{"listed=yes", report{}, skippedWith("input/idx", "TestMNIST", "none"), "1 passed, 0 failed, 1 skipped (1 mnist)", ""},
		{"listed=its parent", report{}, skippedWith("input/idx", "TestMNIST/x=1", "none"), "1 passed, 0 failed, 1 skipped (1 mnist)", ""},
		{"listed=no", report{}, skippedWith("other", "TestB", "no luck"), "1 passed, 0 failed, 1 skipped (1 not listed)", "TestB was skipped and is not in .ci/skips: no luck"},
		{"listed=in another package", report{}, skippedWith("other", "TestMNIST", "none"), "1 passed, 0 failed, 1 skipped (1 not listed)", "not in .ci/skips"},
		{"have=mnist", report{have: []string{"mnist"}}, skippedWith("input/idx", "TestMNIST", "none"), "1 passed, 0 failed, 1 skipped (1 without need)", "although this machine has"},
		{"have=mnist, other reason", report{have: []string{"mnist"}}, append(skippedWith("cmd", "TestBoth", "-"), skippedWith("cmd", "TestCase", "-")...),
			"1 passed, 0 failed, 0 skipped; left to other suites (2 make cases)", ""},
		{"long=under -short", report{short: true}, append(skippedWith("cmd", "TestLong", "long: trains"), append(skippedWith("cmd", "TestBoth", "-"), skippedWith("cmd", "TestCase", "-")...)...),
			"1 passed, 0 failed, 0 skipped; left to other suites (2 make cases, 1 make check-long)", ""},
		{"long=not under -short", report{}, skippedWith("other", "TestLong", "long: trains"), "1 passed, 0 failed, 1 skipped (1 not listed)", "TestLong was skipped"},
		{"list=stale", report{}, skippedWith("cmd", "TestCase", "-"), "1 passed, 0 failed, 0 skipped; left to other suites (1 make cases)", "there is no TestBoth in ringtrain/cmd"},
		{"long=unlisted", report{short: true}, skippedWith("cmd", "TestOther", "long: trains"),
			"1 passed, 0 failed, 0 skipped; left to other suites (1 make check-long)", `ringtrain/cmd TestOther leaves something out under -short, and .ci/skips has no line "check-long"`},
		{"long=a parameter", report{short: true}, passedWith("cmd", "TestLong", "/x=1", "long: fewer"), "3 passed, 0 failed, 0 skipped", ""},
		{"long=a parameter, unlisted", report{short: true}, passedWith("cmd", "TestOther", "/x=1", "long: fewer"), "3 passed, 0 failed, 0 skipped", "TestOther leaves something out"},
		{"long=leaves nothing out", report{short: true}, passedWith("cmd", "TestLong", "", "not long: all"), "2 passed, 0 failed, 0 skipped", "which leaves nothing out"},
		{"long=in full", report{}, passedWith("cmd", "TestLong", "", "all"), "2 passed, 0 failed, 0 skipped", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ends := `{"Action":"pass","Package":"ringtrain/cmd"}`
			out := reported(t, &tt.report, append(append([]string{passed}, tt.events...), ends)...)
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if lines[len(lines)-1] != tt.last {
				t.Errorf("last line is %q, want %q", lines[len(lines)-1], tt.last)
			}
			// Other cases do not run the listed tests of package cmd.
			var faults []string
			for _, f := range tt.report.faults {
				if !strings.Contains(f, "there is no") || strings.HasPrefix(tt.name, "list=") {
					faults = append(faults, f)
				}
			}
			if got := strings.Join(faults, "\n"); !strings.Contains(got, tt.fault) || tt.fault == "" && got != "" {
				t.Errorf("faults are %q, want %q", got, tt.fault)
			}
		})
	}
}

// TestFailures verifies that the suite prints the output of failed tests, builds and
// packages, and not that of passed tests.
func TestFailures(t *testing.T) {
	r := &report{}
	out := reported(t, r,
		`{"Action":"output","Package":"p","Test":"TestGood","Output":"good says\n"}`,
		`{"Action":"pass","Package":"p","Test":"TestGood"}`,
		`{"Action":"output","Package":"p","Test":"TestBad","Output":"bad says\n"}`,
		`{"Action":"fail","Package":"p","Test":"TestBad"}`,
		`{"Action":"output","Package":"p","Test":"TestHangs","Output":"hangs says\n"}`,
		`{"Action":"output","Package":"p","Output":"panic: test timed out\n"}`,
		`{"Action":"fail","Package":"p"}`,
		`{"Action":"build-output","ImportPath":"q","Output":"q.go:1: undefined: x\n"}`,
		`not JSON`,
	)
	for _, want := range []string{"bad says", "hangs says", "panic: test timed out", "q.go:1: undefined: x", "not JSON"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q does not show\n%s", want, out)
		}
	}
	if strings.Contains(out, "good says") || !strings.HasSuffix(out, "1 passed, 1 failed, 0 skipped\n") {
		t.Errorf("report is\n%s", out)
	}
}

// TestNothingRuns verifies that a suite without a matching test fails.
func TestNothingRuns(t *testing.T) {
	r := &report{}
	reported(t, r, `{"Action":"output","Package":"p","Output":"ok  \tp\t0.01s [no tests to run]\n"}`, `{"Action":"pass","Package":"p"}`)
	if got := strings.Join(r.faults, "\n"); !strings.Contains(got, "p: no test matches") || !strings.Contains(got, "no test passed") {
		t.Errorf("faults are %q, want that nothing matches", got)
	}
}

// TestLongTests verifies the tests that check-long runs, and that the suite fails if one
// of them does not exist.
func TestLongTests(t *testing.T) {
	skips := []skip{{checkLong, "ringtrain/b", "TestB"}, {"mnist", "ringtrain/c", "TestC"}, {checkLong, "ringtrain/a", "TestB"}, {checkLong, "ringtrain/b", "TestA"}}
	if got, want := strings.Join(longTests(skips), " "), "-run=^(TestA|TestB)$ ringtrain/a ringtrain/b"; got != want {
		t.Errorf("arguments are %q, want %q", got, want)
	}
	r := &report{skips: skips, seen: map[string]bool{"ringtrain/b TestB": true, "ringtrain/a TestB": true}}
	r.findLost()
	if got, want := strings.Join(r.faults, "\n"), ".ci/skips: there is no TestA in ringtrain/b"; got != want {
		t.Errorf("faults are %q, want %q", got, want)
	}
}

// TestShortIsSaid verifies that each use of testing.Short is followed by a message
// "long:". Without the message no suite would run the test in full.
func TestShortIsSaid(t *testing.T) {
	asks := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() != ".." && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			if strings.Contains(line, "testing."+"Short()") {
				asks++
				if !strings.Contains(lines[i+1], `("long: `) {
					t.Errorf("%s:%d asks for -short, and the next line does not say \"long:\"", path, i+1)
				}
			}
		}
		return nil
	})
	if err != nil || asks < 5 {
		t.Errorf("%d places ask for -short, error %v; want those of cmd/ringtrain and ring", asks, err)
	}
}

// TestSum verifies the sum over several runs.
func TestSum(t *testing.T) {
	name := filepath.Join(t.TempDir(), "counts")
	for _, r := range []report{{passed: 3}, {passed: 4, failed: 1, skipped: map[string]int{"mnist": 2, "peer": 1}}} {
		if err := r.appendCounts(name); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := printSum(&out, name); err != nil || out.String() != "7 passed, 1 failed, 3 skipped\n" {
		t.Errorf("sum is %q, error %v", out.String(), err)
	}
}
