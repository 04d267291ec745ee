package history

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringtrain/model/train/report"
)

// texts returns the lines that a Keeper yields after a number, without their times, and the last number.
func texts(k *Keeper, after int) (lines []string, last int) {
	for number, line := range k.After(after) {
		if s, err := report.Parse(line); err == nil {
			lines = append(lines, fmt.Sprint(s.Event))
		}
		last = number
	}
	return lines, last
}

// TestAfter verifies that a reader who has the events up to any number gets the kept ones above it, in
// order, from all blocks, and that the last line has the newest step.
func TestAfter(t *testing.T) {
	var k Keeper
	text := strings.Repeat("long ", 200)
	k.Add(after(0, report.Start{}))
	const events = 2000
	for n := 2; n <= events; n++ {
		if number := k.Add(after(0, warning(fmt.Sprint(n, " ", text)))); number != n {
			t.Fatalf("event %d has number %d", n, number)
		}
	}
	if len(k.blocks) < 3 {
		t.Fatalf("%d blocks, want several", len(k.blocks))
	}
	first := bytes.Count(k.blocks[0], []byte("\n"))
	for _, from := range []int{0, 1, 2, first - 1, first, first + 1, events - 1, events} {
		want := from + 1
		for number := range k.After(from) {
			if number != want {
				t.Fatalf("after %d comes %d, want %d", from, number, want)
			}
			want++
		}
		if want != events+1 {
			t.Errorf("after %d the last is %d, want %d", from, want-1, events)
		}
	}
	k.Add(after(0, oneStep(1, 0)))
	newest := k.Add(after(time.Millisecond, oneStep(2, 0)))
	lines, last := texts(&k, events)
	if last != newest || len(lines) != 2 || lines[1] != fmt.Sprint(oneStep(2, 0)) {
		t.Errorf("after %d come %v, the last with number %d, want two steps and number %d", events, lines, last, newest)
	}
	if lines, _ := texts(&k, newest); len(lines) != 0 {
		t.Errorf("after the newest event come %v", lines)
	}
}

// TestKeeperIsBounded verifies that any number of lines leaves the blocks below their bound, and the first and the newest
// event in place.
func TestKeeperIsBounded(t *testing.T) {
	var k Keeper
	k.Add(after(0, report.Start{Job: "first"}))
	long := strings.Repeat("x", blockBytes)
	for range 2 * maxBlocks {
		k.Add(after(0, warning(long)))
	}
	newest := k.Add(after(0, report.Done{}))
	lines, last := texts(&k, 0)
	if len(k.blocks) > maxBlocks || len(lines) > maxBlocks+2 || !strings.Contains(lines[0], "first") || last != newest {
		t.Errorf("%d blocks, want at most %d; %d events from %.80q to number %d, want %d", len(k.blocks), maxBlocks, len(lines), lines[0], last, newest)
	}
}
