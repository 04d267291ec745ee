package train

import (
	"testing"
	"time"

	"ringtrain/model/job"
	"ringtrain/model/train/report"
)

// TestPoints verifies the times between the points of a run: a 500th of its age, at least 20 ms and at most 1 s, and
// that the last step ends one.
func TestPoints(t *testing.T) {
	begin := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ age, want time.Duration }{
		{0, 20 * time.Millisecond},
		{9 * time.Second, 20 * time.Millisecond},
		{100 * time.Second, 200 * time.Millisecond},
		{499 * time.Second, 998 * time.Millisecond},
		{240 * time.Hour, time.Second},
	} {
		var k tracker
		k.start(begin)
		at := begin.Add(tt.age)
		k.point = interval{at: at.Add(-tt.want)}
		if k.pointDue(at, true) {
			t.Errorf("age %v: a point without steps", tt.age)
		}
		k.add(Agreed{Examples: 1}, times{})
		if !k.pointDue(at, false) || k.pointDue(at.Add(-time.Microsecond), false) || !k.pointDue(at.Add(-time.Microsecond), true) {
			t.Errorf("age %v: no point %v after the last, or an earlier one", tt.age, tt.want)
		}
	}
}

// TestLines verifies that lines end by steps, by time and with the run, never without a step, and without log.every not
// at all.
func TestLines(t *testing.T) {
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		every  job.Every
		step   int64
		passed time.Duration
		last   bool
		want   bool
	}{
		{job.Every{Steps: 10}, 20, 0, false, true},
		{job.Every{Steps: 10}, 21, time.Hour, false, false},
		{job.Every{Duration: time.Second}, 21, time.Second, false, true},
		{job.Every{Duration: time.Second}, 21, time.Second - 1, false, false},
		{job.Every{Steps: 10}, 21, 0, true, true},
		{job.Every{}, 21, time.Hour, true, false},
	} {
		var k tracker
		k.start(at)
		if k.lineDue(tt.every, tt.step, at.Add(tt.passed), tt.last) {
			t.Errorf("every %v: a line without steps", tt.every)
		}
		k.add(Agreed{Examples: 1}, times{})
		if got := k.lineDue(tt.every, tt.step, at.Add(tt.passed), tt.last); got != tt.want {
			t.Errorf("every %v, step %d, %v later, last %v: due is %v", tt.every, tt.step, tt.passed, tt.last, got)
		}
	}
}

// TestLearningRateIsShort verifies that a rate is told with the digits that people wrote.
func TestLearningRateIsShort(t *testing.T) {
	for _, want := range []report.Number{0, 0.01, 0.1, 3e-5, 1.5} {
		if got := shortest(float32(want)); got != want {
			t.Errorf("rate %v is told as %v", want, got)
		}
	}
}
