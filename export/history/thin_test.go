package history

import (
	"fmt"
	"testing"
	"time"

	"ringtrain/model/train/report"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// after returns an event some time after noon.
func after(d time.Duration, e report.Event) report.Stamped {
	return report.Stamped{Event: e, Time: noon.Add(d)}
}

// steps returns an event of one step of 100 examples.
func oneStep(number int64, took time.Duration) report.Step {
	return report.Step{Step: number, Examples: 100, Loss: 0.5, Interval: report.Seconds(took), Compute: report.Seconds(took)}
}

// addAll returns what a thinner keeps of events.
func addAll(t *thinner, events ...report.Stamped) []report.Stamped {
	var kept []report.Stamped
	for _, s := range events {
		kept = append(kept, t.add(s)...)
	}
	return kept
}

// TestPointsOfASecond verifies that a second of steps of 1 ms becomes 50 points, 20 ms apart, which have
// all examples and all time of its steps.
func TestPointsOfASecond(t *testing.T) {
	var thin thinner
	kept := addAll(&thin, after(0, report.Start{}))[1:]
	for n := range int64(1000) {
		kept = append(kept, thin.add(after(time.Duration(n+1)*time.Millisecond, oneStep(n+1, time.Millisecond)))...)
	}
	var examples int64
	var took time.Duration
	for _, s := range append(kept, thin.sums()...) {
		examples += s.Event.(report.Step).Examples
		took += time.Duration(s.Event.(report.Step).Compute)
	}
	if len(kept) != 50 || examples != 100_000 || took != time.Second {
		t.Errorf("%d points with %d examples in %v, want 50 with 100000 in 1s", len(kept), examples, took)
	}
}

// TestNearest verifies that steps which come a little more often than points may, as after a resume, and
// with jitter, are kept each, and that those which come much more often are added up.
func TestNearest(t *testing.T) {
	for _, tt := range []struct {
		interval time.Duration
		kept     int
	}{{20 * time.Millisecond, 100}, {12 * time.Millisecond, 50}, {6 * time.Millisecond, 25}} {
		thin := thinner{gone: 12 * time.Second} // 24 ms apart
		kept := 0
		for n := range int64(100) {
			at := time.Duration(n)*tt.interval + time.Duration(n%2)*time.Millisecond/10
			kept += len(thin.add(after(at, oneStep(n+1, tt.interval))))
		}
		if kept < tt.kept-2 || kept > tt.kept+2 {
			t.Errorf("of 100 steps %v apart %d are kept, want about %d", tt.interval, kept, tt.kept)
		}
	}
}

// TestNightDoesNotCount verifies that the time between a stop and a resume, with the wait for ranks in it and the end of
// an attempt that did not begin, does not make the points of the resumed run sparser.
func TestNightDoesNotCount(t *testing.T) {
	const night = 12 * time.Hour
	var thin thinner
	addAll(&thin, after(0, report.Start{}), after(10*time.Second, report.Failure{}), after(night-time.Second, report.Waiting{}), after(night-time.Second/2, report.Failure{}), after(night, report.Start{RestoredStep: 5}))
	kept := addAll(&thin, after(night+20*time.Millisecond, oneStep(6, 0)), after(night+41*time.Millisecond, oneStep(7, 0)))
	if len(kept) != 2 {
		t.Errorf("%d of two points 21 ms apart are kept 10 s into the run, want both", len(kept))
	}
}

// TestFreshStartIsANewRun verifies that the points of a run that begins at step 0 in the folder of
// another one are as dense as those of any run.
func TestFreshStartIsANewRun(t *testing.T) {
	var thin thinner
	addAll(&thin, after(0, report.Start{}), after(time.Hour, report.Done{}), after(2*time.Hour, report.Start{}))
	if kept := addAll(&thin, after(2*time.Hour+20*time.Millisecond, oneStep(1, 0)), after(2*time.Hour+40*time.Millisecond, oneStep(2, 0))); len(kept) != 2 {
		t.Errorf("%d of two points of the first 40 ms are kept, want both", len(kept))
	}
}

// TestCloseEvaluationsLoseLists verifies that an evaluation close to the one before keeps its numbers and
// loses its lists, and that evaluations of other records have a distance of their own.
func TestCloseEvaluationsLoseLists(t *testing.T) {
	var thin thinner
	eval := report.Metrics{Split: "eval", Accuracy: report.NewNumber(0.5), Confusion: [][]int64{{1}}, Recall: []report.Number{1}}
	named := eval
	named.Name = "other"
	kept := addAll(&thin, after(0, eval), after(time.Millisecond, eval), after(2*time.Millisecond, named), after(time.Second, eval))
	for i, lists := range []bool{true, false, true, true} {
		if e := kept[i].Event.(report.Metrics); e.Accuracy == nil || (e.Confusion != nil) != lists || (e.Recall != nil) != lists {
			t.Errorf("evaluation %d is kept as %+v, want lists: %v", i, e, lists)
		}
	}
}

// TestLongLists verifies that the lists of an evaluation a minute, of ten days, have at most two million numbers,
// however many classes there are, and that some are kept of each part of the run.
func TestLongLists(t *testing.T) {
	for _, classes := range []int{2, 10, 100, 10_000} {
		e := report.Metrics{Split: "eval", F1: make([]report.Number, classes)}
		if classes <= 100 {
			e.Confusion = make([][]int64, classes)
		}
		var thin thinner
		numbers, kept := 0, 0
		for minute := range 10 * 24 * 60 {
			if s := thin.add(after(time.Duration(minute)*time.Minute, e)); s[0].Event.(report.Metrics).F1 != nil {
				numbers += listed(e)
				kept++
			}
		}
		if numbers > 2e6 || kept < 50 {
			t.Errorf("of %d classes %d evaluations keep their lists of %d numbers in all, want at least 50 and at most 2000000", classes, kept, numbers)
		}
	}
}

// TestOtherEventsAreKept verifies that each event that is no point of a curve is kept, however close to
// others, and that the steps before it stand before it.
func TestOtherEventsAreKept(t *testing.T) {
	var thin thinner
	addAll(&thin, after(0, report.Start{}), after(0, oneStep(1, 0)))
	for i, e := range []report.Event{
		report.Generation{}, report.Decision{}, report.Checkpointed{}, report.Warning{}, report.Exported{}, report.Failure{}, report.Done{}, report.Start{RestoredStep: 1},
	} {
		kept := addAll(&thin, after(0, oneStep(int64(i)+2, 0)), after(0, e))
		if len(kept) != 2 || kept[0].Kind() != "step" || kept[1].Kind() != e.Kind() {
			t.Errorf("of a step and %s is kept %v, want both", e.Kind(), kept)
		}
	}
}

// TestClockThatIsSet verifies that a clock that goes back, or forward by years, counts for nothing.
func TestClockThatIsSet(t *testing.T) {
	var thin thinner
	addAll(&thin, after(0, report.Start{}), after(time.Second, oneStep(1, 0)), after(-time.Hour, oneStep(2, 0)), after(1e6*time.Hour, oneStep(3, 0)), after(-1e6*time.Hour, oneStep(4, 0)))
	if thin.gone != time.Second {
		t.Errorf("the run has gone for %v, want 1s", thin.gone)
	}
}

// load returns an event of 20 ranks.
func load(second int) report.Ranks {
	e := report.Ranks{Step: int64(second), Interval: report.Seconds(time.Second)}
	for rank := range 20 {
		busy := report.Seconds(500_000_123 + (second*7919+rank*104729)%400_000_000)
		e.Ranks = append(e.Ranks, report.RankLoad{Rank: rank, Host: fmt.Sprintf("worker-%02d.cluster", rank/4), Load: report.Load{Busy: busy, Waited: report.Seconds(time.Second) - busy, Sent: int64(1_234_567 + second%977*rank), RSS: 412_345_678}})
	}
	return e
}
