package show

import (
	"bufio"
	"io"
	"os"
	"testing"
	"time"

	"ringtrain/model/train/report"
)

// TestHandOn verifies that rank 0 does not wait for a launcher that does not read: the steps and the loads
// of ranks add up meanwhile, and the launcher reads all examples once it reads again.
func TestHandOn(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r := NewReporter(out, io.Discard)
	r.JSON, r.Whole = true, true
	const steps = 20000 // of more bytes than a pipe holds
	for n := range int64(steps) {
		r.Event(report.Step{Step: n + 1, Examples: 2, Loss: 1, Interval: report.Seconds(time.Millisecond)})
		r.Event(report.Ranks{Step: n + 1, Ranks: []report.RankLoad{{Rank: 0, Load: report.Load{Sent: 3}}}})
	}
	go func() {
		defer out.Close()
		r.Event(report.Step{Step: steps + 1, Examples: 2, Loss: 1, Due: report.NewNumber(1)})
		r.Event(report.Done{})
	}()
	var examples, sent, lines int64
	last := ""
	for s := bufio.NewScanner(in); s.Scan(); lines++ {
		e, err := report.Parse(s.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		last = e.Kind()
		switch e := e.Event.(type) {
		case report.Step:
			examples += e.Examples
		case report.Ranks:
			sent += e.Ranks[0].Sent
		}
	}
	if examples != 2*(steps+1) || sent != 3*steps || last != "done" {
		t.Errorf("the launcher reads %d examples, %d bytes sent and %s at last, want %d, %d and done", examples, sent, last, 2*(steps+1), 3*steps)
	}
	if lines > steps {
		t.Errorf("%d lines, want fewer than events: a pipe does not hold them", lines)
	}
}
