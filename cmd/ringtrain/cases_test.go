package main

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The cases of the requirements are tests named by their numbers, S1 to L4. Cases that
// take long or many processes run if RINGTRAIN_CASES is set (make cases), and completely
// if RINGTRAIN_CASES_FULL is.

// onlyInCases skips the test unless the long cases are selected.
func onlyInCases(t *testing.T) {
	t.Helper()
	if !inCases() {
		t.Skip("a long case: set RINGTRAIN_CASES=1, as make cases does")
	}
}

func inCases() bool { return os.Getenv("RINGTRAIN_CASES") != "" || inFull() }

func inFull() bool { return os.Getenv("RINGTRAIN_CASES_FULL") != "" }

// crowded is the world size of the cases: 20, but 5 under -short.
func crowded(t *testing.T) int {
	t.Helper()
	if short(t) {
		return 5
	}
	return 20
}

// A listed world is described by TF_CONFIG. The test starts each rank.
type listed struct {
	*box
	workers []string             // addresses in TF_CONFIG
	ranks   map[int]*testProcess // started ranks
}

// newListed returns a world of n workers on the loopback.
func newListed(t *testing.T, n int) *listed {
	t.Helper()
	return &listed{box: newBox(t), workers: onLoopback(freePorts(t, n)), ranks: map[int]*testProcess{}}
}

// join starts a rank.
func (l *listed) join(rank int, args ...string) *testProcess {
	l.Helper()
	p := l.with(tfConfigOf(l.workers, rank)).start(args...)
	l.ranks[rank] = p
	return p
}

// joinAll starts all ranks except some.
func (l *listed) joinAll(but []int, args ...string) {
	l.Helper()
	for rank := range l.workers {
		if !slices.Contains(but, rank) {
			l.join(rank, args...)
		}
	}
}

// trained waits until all started ranks have succeeded with the same digest, and returns
// the result of rank 0.
func (l *listed) trained() ended {
	l.Helper()
	first := l.ranks[0].wait()
	for _, rank := range slices.Sorted(maps.Keys(l.ranks)) {
		if e := l.ranks[rank].wait(); e.code != 0 || e.last() != first.last() || !strings.HasPrefix(e.last(), "digest=") {
			l.Fatalf("rank %d ended with %d and %q, want 0 and the digest of rank 0, %q\n%s", rank, e.code, e.last(), first.last(), e.stderr)
		}
	}
	return first
}

// wantEnds waits for all started ranks. It verifies that each ends with code, at about
// the same time, with a line that names exactly the ranks in names and contains each of
// the texts.
func (l *listed) wantEnds(code int, names []int, texts ...string) {
	l.Helper()
	var earliest, latest time.Time
	for _, rank := range slices.Sorted(maps.Keys(l.ranks)) {
		p := l.ranks[rank]
		e := p.wait()
		if e.code != code || !slices.Equal(ranksIn(e.last()), names) {
			l.Errorf("rank %d ended with %d and %q, want %d and ranks %v named", rank, e.code, e.last(), code, names)
		}
		for _, text := range texts {
			if !strings.Contains(e.last(), text) {
				l.Errorf("rank %d ends with %q, want %q in it", rank, e.last(), text)
			}
		}
		if earliest.IsZero() || p.endedAt.Before(earliest) {
			earliest = p.endedAt
		}
		if p.endedAt.After(latest) {
			latest = p.endedAt
		}
	}
	if apart := latest.Sub(earliest); apart > 5*time.Second {
		l.Errorf("the ranks ended up to %v apart, want 5s at most", apart)
	}
}

var rankNumbers = regexp.MustCompile(`\branks? ([0-9]+)|, ([0-9]+) \(`)

// ranksIn returns the ranks in a line, as in "rank 3" or "ranks 12 (…), 17 (…)".
func ranksIn(line string) []int {
	var list []int
	for _, m := range rankNumbers.FindAllStringSubmatch(line, -1) {
		rank, _ := strconv.Atoi(m[1] + m[2])
		list = append(list, rank)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// named returns the events with a name.
func (e ended) named(t testing.TB, name string) []event {
	t.Helper()
	return slices.DeleteFunc(e.events(t), func(v event) bool { return v.name() != name })
}

// at returns the time of the event.
func (e event) at() time.Time {
	at, _ := time.Parse(time.RFC3339Nano, e.text("time")) // checked by events
	return at
}

// waitingLines returns the number of a rank's lines about waiting.
func (e ended) waitingLines() int {
	n := 0
	for line := range strings.Lines(e.stderr) {
		if strings.HasPrefix(line, "waiting") {
			n++
		}
	}
	return n
}

// missingRanks returns the missing ranks of a waiting event with their reasons.
func (e event) missingRanks() map[int]string {
	missing := map[int]string{}
	for _, m := range e.list("missing") {
		v := event(m.(map[string]any))
		missing[int(v.num("rank"))] = v.text("reason")
	}
	return missing
}

// alone returns the digest of the job linear on a single rank. Ranks without an example
// add zeros, so it is that of any world size.
func alone(t *testing.T, args ...string) string {
	t.Helper()
	e := newBox(t).must(0, append([]string{"train", "linear", "--set", "export.if=always"}, args...)...)
	return strings.TrimPrefix(e.last(), "digest=")
}

// longLinear returns the job linear with the given number of steps, without outputs.
func longLinear(steps int, more ...string) []string {
	return append([]string{
		"linear", "--json", "--set", "train.steps=" + strconv.Itoa(steps), "--set", "log.every=1000",
		"--set", "checkpoint.dir=", "--set", "export.savedmodel=",
	}, more...)
}

// longAlone returns the digest of longLinear.
func longAlone(t *testing.T, steps int) string {
	t.Helper()
	return newBox(t).must(0, append([]string{"train"}, longLinear(steps)...)...).digest(t)
}

// forever is a number of steps that no test completes.
const forever = 100_000_000

// pause sleeps in real time, for cases about a late process.
func pause(d time.Duration) { <-time.After(d) }

// within verifies that the median of some durations is within a bound and none is
// missing. It logs the figure and the claim. The bound is a multiple of the claim
// because other work may share the machine; tests with a fake clock verify the claim. A
// claim of 0 is none.
func within(t testing.TB, what string, claim, bound time.Duration, took ...time.Duration) {
	t.Helper()
	if len(took) == 0 {
		t.Errorf("%s: never, want it within %v", what, bound)
		return
	}
	slices.Sort(took)
	median, of := took[len(took)/2], ""
	if len(took) > 1 {
		of = fmt.Sprintf("median of %d up to %v, ", len(took), took[len(took)-1].Round(time.Millisecond))
	}
	if claim > 0 {
		of += fmt.Sprintf("claim %v, ", claim)
	}
	t.Logf("%s: after %v (%sbound %v)", what, median.Round(time.Millisecond), of, bound)
	if median > bound {
		t.Errorf("%s: after %v, want %v at most on any machine", what, median.Round(time.Millisecond), bound)
	}
}

// caseName returns the name of a sub-test.
func caseName(id string, more ...any) string {
	return "case=" + id + strings.ReplaceAll(fmt.Sprint(more...), " ", "_")
}
