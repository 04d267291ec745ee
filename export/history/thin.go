package history

import (
	"time"

	"ringtrain/model/train/report"
)

// maxPause bounds the time between two events of an attempt: a longer one is a clock that was set.
const maxPause = 365 * 24 * time.Hour

// loadsApart is how many points of a curve stand for one of the loads of ranks, which is larger: pages show their sums.
const loadsApart = 10

// A thinner chooses the events of a stream that are kept. The zero thinner is at the start of a run.
type thinner struct {
	gone  time.Duration            // for which the run has gone, over all attempts
	last  time.Time                // of the newest event
	over  bool                     // the attempt has ended
	kept  map[string]time.Duration // gone at the last point of each curve
	steps report.Stamped           // the sum of steps since the last point; no event: none
	ranks report.Stamped           // the sum of loads since the last point
}

// add takes the next event of the stream. It returns the events to keep now, oldest first.
func (t *thinner) add(s report.Stamped) []report.Stamped {
	t.pass(s)
	apart := report.Distance(t.gone)
	switch e := s.Event.(type) {
	case report.Step:
		if sum, ok := t.steps.Event.(report.Step); ok {
			s.Event = sum.Add(e)
		}
		t.steps = s
		return t.take("step", &t.steps, apart-time.Duration(e.Interval)/2) // the nearest of those that come in intervals
	case report.Ranks:
		if sum, ok := t.ranks.Event.(report.Ranks); ok {
			s.Event = sum.Add(e)
		}
		t.ranks = s
		return t.take("ranks", &t.ranks, loadsApart*apart-time.Duration(e.Interval)/2)
	case report.Waiting:
		return t.take("waiting", &s, apart)
	case report.Metrics:
		curve := "eval " + e.Split + " " + e.Name
		if !t.isDue(curve, apart*time.Duration(1+listed(e)/500)) {
			s.Event = withoutLists(e)
			return []report.Stamped{s}
		}
		return t.point(curve, &s)
	}
	all := append(t.sums(), s)
	t.steps, t.ranks = report.Stamped{}, report.Stamped{}
	if start, ok := s.Event.(report.Start); ok && start.RestoredStep == 0 {
		*t = thinner{last: s.Time} // a new run
	}
	return all
}

// take takes an event as the next point of a curve, unless the last one lies closer than a distance.
func (t *thinner) take(curve string, s *report.Stamped, apart time.Duration) []report.Stamped {
	if !t.isDue(curve, apart) {
		return nil
	}
	return t.point(curve, s)
}

// isDue reports whether the last point of a curve lies at least a distance back.
func (t *thinner) isDue(curve string, apart time.Duration) bool {
	at, some := t.kept[curve]
	return !some || t.gone-at >= apart
}

// point takes an event as the next point of a curve.
func (t *thinner) point(curve string, s *report.Stamped) []report.Stamped {
	if t.kept == nil {
		t.kept = map[string]time.Duration{}
	}
	t.kept[curve] = t.gone
	point := *s
	*s = report.Stamped{}
	return []report.Stamped{point}
}

// sums returns what is gathered since the last points.
func (t *thinner) sums() []report.Stamped {
	var all []report.Stamped
	for _, s := range []report.Stamped{t.steps, t.ranks} {
		if s.Event != nil {
			all = append(all, s)
		}
	}
	return all
}

// pass counts the time until s, if the run has gone since the event before.
func (t *thinner) pass(s report.Stamped) {
	since := s.Time.Sub(t.last)
	switch s.Event.(type) {
	case report.Start:
		t.over, since = false, 0
	case report.Waiting:
		since = 0
	case report.Done, report.Failure:
		if t.over { // of an attempt that did not begin
			since = 0
		}
		t.over = true
	}
	if !t.last.IsZero() && since > 0 && since < maxPause {
		t.gone += since
	}
	t.last = s.Time
}

// listed returns how many numbers the lists by class of an evaluation have: longer ones are kept more rarely.
func listed(e report.Metrics) int { return len(e.Confusion)*len(e.Confusion) + 3*len(e.F1) }

// withoutLists returns the numbers of an evaluation.
func withoutLists(e report.Metrics) report.Metrics {
	e.Buckets, e.Thresholds, e.Classes = nil, nil, nil
	e.Precision, e.Recall, e.F1, e.Confusion = nil, nil, nil, nil
	return e
}
