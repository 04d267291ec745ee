package main

import (
	"fmt"
	"os"
	"strings"
)

// skip is a line of the list: a test that may be skipped with its sub-tests, and the
// reason.
type skip struct {
	reason string
	pkg    string // import path
	test   string
}

// readSkips reads the list: reason, package below the module's root, test.
func readSkips(name string) ([]skip, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var skips []skip
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		switch len(words) {
		case 0:
		case 3:
			skips = append(skips, skip{words[0], "ringtrain/" + words[1], words[2]})
		default:
			return nil, fmt.Errorf("%s:%d: %d words, want reason, package and test", name, i+1, len(words))
		}
	}
	return skips, nil
}

// covers reports whether the line is for this test or a parent of it.
func (s skip) covers(pkg, test string) bool {
	return s.pkg == pkg && (test == s.test || strings.HasPrefix(test, s.test+"/"))
}

// suites lists the reasons for which another target of make runs the test.
var suites = []string{checkLong, "cases", "faults", "chaos", "kills", "everywhere", "wire"}
