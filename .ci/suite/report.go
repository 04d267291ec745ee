package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
)

// event is an event of `go test -json`, from cmd/test2json or, for builds, from cmd/go.
type event struct {
	Action     string
	Package    string
	ImportPath string // of a build
	Test       string
	Output     string
	Elapsed    float64
}

// report processes the events. It keeps the output of each test until the test ends.
type report struct {
	out    io.Writer
	log    io.Writer // receives all output
	skips  []skip
	short  bool     // under -short
	have   []string // reasons that do not hold on this machine
	output map[string]*strings.Builder
	seen   map[string]bool // top-level tests, and packages that passed
	whole  map[string]bool // top-level tests that passed; false if one omitted something

	passed, failed int
	skipped        map[string]int // by reason
	left           map[string]int // by suite
	faults         []string       // besides failed tests
}

// line processes a line of standard output.
func (r *report) line(line []byte) {
	if r.output == nil {
		r.output, r.seen = map[string]*strings.Builder{}, map[string]bool{}
		r.skipped, r.left, r.whole = map[string]int{}, map[string]int{}, map[string]bool{}
	}
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		fmt.Fprintf(r.out, "%s", line)
		return
	}
	switch {
	case e.Action == "build-output":
		fmt.Fprint(r.out, e.Output)
	case e.Action == "output":
		r.keep(e)
	case e.Test != "":
		r.test(e)
	default:
		r.pkg(e)
	}
}

func (e event) key() string { return e.Package + " " + e.Test }

func (r *report) keep(e event) {
	fmt.Fprint(r.log, e.Output)
	b := r.output[e.key()]
	if b == nil {
		b = &strings.Builder{}
		r.output[e.key()] = b
	}
	b.WriteString(e.Output)
}

// take returns the kept output and removes it.
func (r *report) take(key string) string {
	b := r.output[key]
	delete(r.output, key)
	if b == nil {
		return ""
	}
	return b.String()
}

// test counts a finished test or sub-test.
func (r *report) test(e event) {
	top, _, _ := strings.Cut(e.Test, "/")
	r.seen[e.Package+" "+top] = true
	switch e.Action {
	case "pass":
		r.passed++
		r.leaves(e, saysLong(r.take(e.key())))
	case "fail":
		r.failed++
		for line := range strings.Lines(r.take(e.key())) {
			if !strings.HasPrefix(line, "=== ") {
				fmt.Fprint(r.out, line)
			}
		}
	case "skip":
		r.skip(e, reasonIn(r.take(e.key())))
	}
}

// reasonIn returns the message of a skipped test: its lines without those of the
// framework, and without file and line number.
func reasonIn(output string) string {
	var said []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "===") || strings.HasPrefix(line, "---") || line == "" {
			continue
		}
		if _, rest, ok := strings.Cut(line, ".go:"); ok && len(said) == 0 {
			_, line, _ = strings.Cut(rest, ": ")
		}
		said = append(said, line)
	}
	return strings.Join(said, " ")
}

// skip counts a skipped test under its reason, or as a fault.
func (r *report) skip(e event, said string) {
	if r.short && strings.HasPrefix(said, "long:") {
		r.left[checkLong]++
		r.leaves(e, true)
		return
	}
	reason, listed := r.reason(e)
	switch {
	case !listed:
		r.fault("%s %s was skipped and is not in .ci/skips: %s", e.Package, e.Test, said)
		r.skipped["not listed"]++
	case reason == "":
		r.fault("%s %s was skipped although this machine has what it needs: %s", e.Package, e.Test, said)
		r.skipped["without need"]++
	case slices.Contains(suites, reason):
		r.left[reason]++
	default:
		r.skipped[reason]++
	}
}

// reason returns the last listed reason for a test that may hold on this machine. listed
// reports whether the list has the test.
func (r *report) reason(e event) (reason string, listed bool) {
	for _, s := range r.skips {
		if s.reason != checkLong && s.covers(e.Package, e.Test) {
			listed = true
			if !slices.Contains(r.have, s.reason) {
				reason = s.reason
			}
		}
	}
	return reason, listed
}

// pkg ends a package.
func (r *report) pkg(e event) {
	output := r.take(e.Package + " ")
	switch e.Action {
	case "fail":
		for key := range r.output { // tests that did not end
			if strings.HasPrefix(key, e.Package+" ") {
				fmt.Fprint(r.out, r.take(key))
			}
		}
		fmt.Fprint(r.out, output)
	case "pass", "skip":
		r.seen[e.Package] = true
		lines := strings.Split(strings.TrimSpace(output), "\n")
		last := lines[len(lines)-1]
		if strings.Contains(last, "[no tests to run]") {
			r.fault("%s: no test matches", e.Package)
		}
		fmt.Fprintln(r.out, last)
	}
}

// findStale finds lines of the list whose test no longer exists. On systems other than
// Linux it finds none, because some tests are for Linux only.
func (r *report) findStale() {
	for _, s := range r.skips {
		top, _, _ := strings.Cut(s.test, "/")
		if runtime.GOOS == "linux" && r.seen[s.pkg] && !r.seen[s.pkg+" "+top] {
			r.fault(".ci/skips: there is no %s in %s", s.test, s.pkg)
		}
	}
}

func (r *report) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}
