package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// checkLong is the reason of tests that omit something under -short. It does not excuse
// a skip: the test must log "long:".
const checkLong = "check-long"

// saysLong reports whether a test logged a line that begins with "long:".
func saysLong(output string) bool {
	for line := range strings.Lines(output) {
		_, rest, _ := strings.Cut(line, ".go:")
		if _, said, _ := strings.Cut(rest, ": "); strings.HasPrefix(said, "long:") {
			return true
		}
	}
	return false
}

// leaves records whether a test or sub-test omitted something under -short.
func (r *report) leaves(e event, less bool) {
	if !r.short {
		return
	}
	top, _, isSub := strings.Cut(e.Test, "/")
	key := e.Package + " " + top
	if whole, known := r.whole[key]; less {
		r.whole[key] = false
	} else if !isSub && (!known || whole) {
		r.whole[key] = true
	}
}

// findUnlisted finds tests that omit something but are not listed, so that no suite
// would run them in full, and listed tests that omit nothing.
func (r *report) findUnlisted() {
	var listed []string
	for _, s := range r.skips {
		if s.reason == checkLong {
			listed = append(listed, s.pkg+" "+s.test)
		}
	}
	for key, whole := range r.whole {
		switch has := slices.Contains(listed, key); {
		case !whole && !has:
			r.fault("%s leaves something out under -short, and .ci/skips has no line %q for it", key, checkLong)
		case whole && has:
			r.fault(".ci/skips has %s for %s, which leaves nothing out under -short", key, checkLong)
		}
	}
	slices.Sort(r.faults)
}

// findLost finds lines for check-long whose test did not run. On systems other than
// Linux it finds none, because some tests are for Linux only.
func (r *report) findLost() {
	for _, s := range r.skips {
		if runtime.GOOS == "linux" && s.reason == checkLong && !r.seen[s.pkg+" "+s.test] {
			r.fault(".ci/skips: there is no %s in %s", s.test, s.pkg)
		}
	}
}

// longTests returns the arguments of go test for the tests listed for check-long.
func longTests(skips []skip) []string {
	var names, packages []string
	for _, s := range skips {
		if s.reason == checkLong {
			names, packages = append(names, s.test), append(packages, s.pkg)
		}
	}
	slices.Sort(names)
	slices.Sort(packages)
	run := fmt.Sprintf("-run=^(%s)$", strings.Join(slices.Compact(names), "|"))
	return append([]string{run}, slices.Compact(packages)...)
}
