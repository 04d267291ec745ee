package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A turmoil is what a job goes through.
type turmoil struct {
	began  time.Time // the first fault
	ended  time.Time // end of the last one
	mended []func() error
}

func (t *turmoil) begin() {
	if t.began.IsZero() {
		t.began = time.Now()
	}
}

func (t *turmoil) end() { t.ended = time.Now() }

// mend ends all cuts.
func (s *shaken) mend() {
	s.Helper()
	for _, undo := range s.mended {
		if err := undo(); err != nil {
			s.Error(err)
		}
	}
	s.mended = nil
}

// A verdict is what the events of a job say about its faults.
type verdict struct {
	generations []event
	lost        []int         // ranks, each as often as it was lost
	still       time.Duration // longest time without a step from the first fault on
	after       time.Duration // from the end of the last fault to the next step; negative: none
	digest      string        // of the event done
}

// judge reads the events of a job.
func (t *turmoil) judge(events []event) verdict {
	v := verdict{after: -1}
	last := t.began
	for _, e := range events {
		switch e.name() {
		case "generation":
			v.generations = append(v.generations, e)
			for _, rank := range e.list("lost") {
				v.lost = append(v.lost, int(rank.(float64)))
			}
		case "done":
			v.digest = e.text("digest")
		case "step":
			if e.at().Before(t.began) {
				continue
			}
			v.still, last = max(v.still, e.at().Sub(last)), e.at()
			if v.after < 0 && e.at().After(t.ended) {
				v.after = e.at().Sub(t.ended)
			}
		}
	}
	return v
}

// wantLost verifies which ranks were lost. Each loss has used a restart.
func (v verdict) wantLost(t *testing.T, want []int) {
	t.Helper()
	if !slices.Equal(v.lost, want) {
		t.Errorf("ranks %v were lost, want %v: %v", v.lost, want, v.generations)
	}
}

// row returns the row of the table.
func (v verdict) row(name string, code int, last, digest string) string {
	seen := "training goes on"
	if n := len(v.generations); n > 0 {
		seen = fmt.Sprintf("%d generations, the last: %s", n, v.generations[n-1].text("cause"))
	}
	if code != 0 {
		seen = fmt.Sprintf("exit code %d: %s", code, last)
	}
	same, lost, after := "other", "nobody", "never"
	if v.digest == digest {
		same = "same"
	}
	if code != 0 {
		same = ""
	}
	if len(v.lost) > 0 {
		lost = strings.Trim(fmt.Sprint(v.lost), "[]")
	}
	if v.after >= 0 {
		after = fmt.Sprintf("%.2f s", v.after.Seconds())
	}
	return fmt.Sprintf("| %s | %s | %.2f s | %s | %s | %s |", strings.ReplaceAll(name, "/", ", "), seen, v.still.Seconds(), after, same, lost)
}

// parsed returns the events in the whole lines of text, in order of their times.
func parsed(text string) []event {
	var list []event
	for line := range strings.Lines(wholeLines(text)) {
		var v event
		if json.Unmarshal([]byte(line), &v) == nil { // the last line of a killed rank may be incomplete
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, func(a, b event) int { return a.at().Compare(b.at()) })
	return list
}

// stepAfter returns after the process has reported a step that completed after a time. It returns
// false if the process has ended before.
func (p *testProcess) stepAfter(t testing.TB, at time.Time) bool {
	t.Helper()
	late := time.After(p.limit)
	for over := false; ; {
		out, grown := p.stdout.snapshot()
		if lastStep(out).After(at) {
			return true
		}
		if over {
			return false
		}
		select {
		case <-grown:
		case <-p.ended: // with its last output
			over = true
		case <-late:
			t.Fatalf("%s\nno step within %v\n%s", p.line, p.limit, p.stderr)
		}
	}
}

// lastStep returns the time of the last step that is reported in text.
func lastStep(text string) time.Time {
	for text = wholeLines(text); text != ""; {
		i := strings.LastIndexByte(text[:len(text)-1], '\n') + 1
		if list := parsed(text[i:]); len(list) == 1 && list[0].name() == "step" {
			return list[0].at()
		}
		text = text[:i]
	}
	return time.Time{}
}

var stepLine = regexp.MustCompile(`(?m)^(\[0\] )?step .*\n`)

// withoutSteps returns what a job has said, without the lines about steps.
func withoutSteps(said string) string { return stepLine.ReplaceAllString(said, "") }
