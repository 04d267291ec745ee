package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// A rankEnd is the end of one rank of a job.
type rankEnd struct {
	code int
	last string // last line of standard error
}

// tellCode runs its arguments and prints their exit code, which the launcher reports for
// one rank only. The launcher's TERM reaches ringtrain alone.
const tellCode = `trap : TERM; "$@"; code=$?; echo "exit=$code" >&2; exit $code`

var exitLine = regexp.MustCompile(`^exit=(\d+)$`)

// trainRanks trains on n ranks and returns the end of each, and of the launcher.
func (b *box) trainRanks(n int, args ...string) ([]rankEnd, ended) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	e := b.run(append([]string{"run", "--verbose", "-np", strconv.Itoa(n), "sh", "-c", tellCode, "rank", self, "train"}, args...)...)
	var ends []rankEnd
	for rank := range n {
		lines := linesOf(e.stderr, rank)
		m := exitLine.FindStringSubmatch(lastOf(lines))
		if m == nil {
			b.Fatalf("rank %d does not say its exit code\n%s", rank, e.stderr)
		}
		code, _ := strconv.Atoi(m[1])
		ends = append(ends, rankEnd{code, lastOf(lines[:len(lines)-1])})
	}
	return ends, e
}

// wantFault verifies that every rank ends with code and with one line, equal on all
// ranks, that contains each of the texts.
func (b *box) wantFault(ends []rankEnd, e ended, code int, texts ...string) {
	b.Helper()
	if e.code != code {
		b.Errorf("the launcher ended with %d, want %d\n%s", e.code, code, e.stderr)
	}
	for rank, end := range ends {
		if end.code != code {
			b.Errorf("rank %d ended with %d, want %d", rank, end.code, code)
		}
		for _, text := range texts {
			if !strings.Contains(end.last, text) {
				b.Errorf("rank %d ends with %q, want %q in it", rank, end.last, text)
			}
		}
		if lines := linesOf(e.stderr, rank); len(lines) != 2 { // the fault, and tellCode's
			b.Errorf("rank %d says more than one line: %q", rank, lines)
		}
	}
	if b.Failed() {
		b.Logf("standard output and error:\n%s%s", e.stdout, e.stderr)
	}
}

// namesRank reports whether a line names a rank.
func namesRank(line string, rank int) bool {
	return regexp.MustCompile(fmt.Sprintf(`\brank %d\b`, rank)).MatchString(line)
}
