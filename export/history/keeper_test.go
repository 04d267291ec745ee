package history

import (
	"fmt"
	"math/rand/v2"
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
// order, from packed blocks and from the tail, and that the last line has the newest step.
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
	if len(k.blocks) < 3 || len(k.tail) == 0 {
		t.Fatalf("%d blocks and a tail of %d bytes, want several and some", len(k.blocks), len(k.tail))
	}
	for _, from := range []int{0, 1, 2, k.blocks[0].last, k.blocks[1].last - 1, events - 1, events} {
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

// TestKeeperIsBounded verifies that any number of lines that cannot be packed smaller leaves the packed ones
// below their bound, and the first and the newest event in place.
func TestKeeperIsBounded(t *testing.T) {
	var k Keeper
	random := rand.New(rand.NewPCG(1, 1))
	k.Add(after(0, report.Start{Job: "first"}))
	noise := make([]byte, blockBytes)
	for i := range noise {
		noise[i] = byte('!' + random.IntN(90))
	}
	for range 2 * maxPacked / blockBytes {
		k.number++
		k.tail = fmt.Appendf(k.tail, "%d %s\n", k.number, noise)
		k.pack()
	}
	newest := k.Add(after(0, report.Done{}))
	lines, last := texts(&k, 0)
	if k.packed > maxPacked || len(lines) != 2 || !strings.Contains(lines[0], "first") || last != newest {
		t.Errorf("%d bytes are packed, want at most %d; the events are %.80q, the last has number %d, want %d", k.packed, maxPacked, lines, last, newest)
	}
}
